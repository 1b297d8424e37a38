import { type Database, sql } from '@deedwire/store';
import { type DeliveryId, type IdRange, idsPerDay, type SubscriptionId } from '@deedwire/webhooks/tables';
import { splitForward } from '../deliveries/pages.ts';

/** Sequences in the range of a replay: from `from` to below `until`. Null does not restrict it. */
export interface Sequences {
  from: number | null;
  until: number | null;
}

/** Each day costs 4 locks. */
const daysPerStatement = 10;

const idsPerMinute = idsPerDay / (24n * 60n);

/** The search ends once it has found a sequence to within a minute. */
const precision = idsPerMinute;

/**
 * How far ids may lie from where their sequences belong. Both follow each other within seconds, unless the clock of the database is
 * set back: then later deliveries get smaller ids.
 */
export const displacements = {
  /** No delivery of the range may be missing. */
  largest: idsPerDay,
  /** A few may be missing or too many, in the minutes after such a step. */
  usual: idsPerMinute,
} as const;

/**
 * Narrows a range of ids to where the deliveries of a subscription with these sequences are. No index has the sequences, so it looks
 * at the sequence in the middle of the range, and goes on in one of the halves: 16 deliveries for a month.
 *
 * @param displacement one of `displacements`
 */
export async function narrowToSequences(
  database: Database,
  subscriptionId: SubscriptionId,
  { from, until }: Sequences,
  ids: IdRange,
  displacement: bigint,
): Promise<IdRange> {
  let { min, before } = ids;
  if (from !== null) {
    const { smaller } = await findSequence(database, subscriptionId, BigInt(from), ids);
    if (smaller !== null && smaller - displacement > min) min = smaller - displacement;
  }
  if (until !== null) {
    const { reached } = await findSequence(database, subscriptionId, BigInt(until), { min, before });
    if (reached !== null && reached + displacement < before) before = reached + displacement;
  }
  return { min, before };
}

interface FoundSequence {
  /** The last delivery that was found with a smaller sequence. Null if none was. */
  smaller: bigint | null;
  /** The first delivery that was found with the sequence or a larger one. Null if none was. */
  reached: bigint | null;
}

async function findSequence(
  database: Database,
  subscriptionId: SubscriptionId,
  sequence: bigint,
  { min, before }: IdRange,
): Promise<FoundSequence> {
  const found: FoundSequence = { smaller: null, reached: null };
  for (let [low, high] = [min, before]; high - low > precision;) {
    const middle = (low + high) / 2n;
    const delivery = await selectFirst(database, subscriptionId, middle, high);
    if (delivery !== null && BigInt(delivery.sequence) < sequence) {
      found.smaller = BigInt(delivery.id);
      low = found.smaller + 1n;
    } else {
      if (delivery !== null) found.reached = BigInt(delivery.id);
      high = middle;
    }
  }
  return found;
}

// webhook_delivery_by_subscription, in the partitions between both ids. The limit is unknown to the planner, which could read the
// deliveries of all subscriptions in the order of their ids otherwise.
const selectFirstStatement = sql('select-first-delivery-to-replay', 'for-values')`
    select id, sequence
    from webhook_delivery
    where subscription_id = $1 and id >= $2 and id < $3
    order by id
    limit (select 1)`;

/** The first delivery with an id from `min` to below `before`. Null if there is none. */
async function selectFirst(
  database: Database,
  subscriptionId: SubscriptionId,
  min: bigint,
  before: bigint,
): Promise<{ id: DeliveryId; sequence: string } | null> {
  for (const part of splitForward({ min, before }, daysPerStatement)) {
    const values = [subscriptionId, String(part.min), String(part.before)];
    const [first] = await database.query<{ id: DeliveryId; sequence: string }>(selectFirstStatement, values);
    if (first !== undefined) return first;
  }
  return null;
}
