import { idAt } from '@deedwire/domain';

/** How many ids belong to one day. The history has one partition per day, and id 0 is at the start of a day. */
export const idsPerDay = 86_400_000n << 22n;

/** Deliveries are dropped so many days after they have expired. */
export const daysOfExpired = 7;

/** The clock of the database can be set back or forward by a day: a record can have a smaller id than one that was inserted before it. */
export const clockStep = idsPerDay;

/** The ids from `min` to below `before`. */
export interface IdRange {
  min: bigint;
  before: bigint;
}

/**
 * The ids that stored deliveries can have, whether they have expired or not, of subscriptions with this id or a later one. Expired
 * deliveries are dropped a day at a time.
 *
 * @param of.now by the clock of the database
 */
export function storedRange(of: { id: string; expiredBefore: bigint; now: Date }): IdRange {
  const { id, expiredBefore, now } = of;
  const created = BigInt(id) - clockStep;
  const dropped = expiredBefore - BigInt(daysOfExpired + 2) * idsPerDay;
  const min = created > dropped ? created : dropped;
  return { min: min > 0n ? min : 0n, before: BigInt(idAt(now)) + clockStep };
}

/** Splits a range at the limits of partitions, newest first. Each part lies within `days` partitions. */
export function* splitByDays({ min, before }: IdRange, days: number): Generator<IdRange> {
  for (let end = before; end > min;) {
    const start = ((end - 1n) / idsPerDay - BigInt(days - 1)) * idsPerDay;
    yield { min: start > min ? start : min, before: end };
    end = start;
  }
}
