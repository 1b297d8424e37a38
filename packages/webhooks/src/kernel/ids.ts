import { type AccountId, type RecordId, toRecordId, idAt } from '@deedwire/core';

export type { AccountId };
export type DeliveryId = RecordId<'WebhookDelivery'>;
export type EventId = RecordId<'WebhookEvent'>;
export type ListenerId = RecordId<'WebhookListener'>;
export type ReplayId = RecordId<'WebhookReplay'>;
export type SubscriptionId = RecordId<'WebhookSubscription'>;

/** A listener is a row of webhook_subscription: its id is that of a subscription, with a global identifier of its own type. */
export function subscriptionIdOf(id: ListenerId): SubscriptionId {
  return toRecordId(id);
}

/** Identifies a lane, which sends the deliveries of one subscription, and its account. */
export interface LaneId {
  readonly subscriptionId: SubscriptionId;
  readonly accountId: AccountId;
}

/** 0 to 63. One worker at a time owns a shard: only that worker fans out and sends for the accounts in it. */
export type Shard = number;

export const shardCount = 64;

/** The shard of an account never changes: it is the lowest six bits of the account's id. */
export function shardOf(accountId: AccountId): Shard {
  return Number(BigInt(accountId) & BigInt(shardCount - 1));
}

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
 * deliveries are dropped a day at a time. `now` is by the clock of the database.
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
