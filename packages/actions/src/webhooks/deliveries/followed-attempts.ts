import { type AccountId, nearestIdAt } from '@deedwire/core';
import { type Database, sql } from '@deedwire/store';
import type { DeliveryId, SubscriptionId } from '@deedwire/webhooks/tables';
import { type AttemptRow, selectAttempts } from './attempts.ts';
import { selectDeliveredEvents, selectDeliveryIds, selectListedSubscriptions } from './delivery-ids.ts';
import { newestIds } from './pages.ts';

/** Whose attempts are followed. */
export interface Followed {
  accountId: AccountId;
  /** Null follows all subscriptions of the account. */
  subscriptionId: SubscriptionId | null;
}

/** An attempt with the type of its event. */
export interface FollowedAttemptRow extends AttemptRow {
  /** Null if the delivery was deleted meanwhile. */
  eventType: string | null;
}

const dayMs = 86_400_000;
const overlapMs = 10_000;
const rememberedMs = 300_000;
const candidatesMax = 1_000;
const newMax = 500;
const dueMax = 200;
const retriedMax = 200;
/** Its schedule has four in the time that a poll goes back at most. */
const attemptsOfDeliveryMax = 5;

/**
 * Finds the attempts of an account as they are made, one poll after the other.
 *
 * No index lists attempts by time. So a poll reads the attempts of those deliveries that can have had one: new ones, those that
 * were due, and those that were retried. At most 1,000 deliveries count at a time, and at most 500 new ones of the last 10 seconds,
 * so a poll has a bounded cost. Of an account with more, some attempts are missing.
 */
export class AttemptFollower {
  readonly #database: Database;
  readonly #followed: Followed;
  /** When each delivery was last new, due or retried, by the clock of the database. The latest one is the last one. */
  readonly #candidates = new Map<DeliveryId, number>();
  /** The attempts that were returned, and when. */
  readonly #returned = new Map<string, number>();
  #startMs: number | null = null;

  constructor(database: Database, followed: Followed) {
    this.#database = database;
    this.#followed = followed;
  }

  /**
   * Returns the attempts that were recorded since the last poll, in the order in which they started. The first poll returns those of the
   * last 10 seconds.
   */
  async poll(): Promise<FollowedAttemptRow[]> {
    const { now, subscriptionIds } = await selectListedSubscriptions(this.#database, this.#followed);
    const nowMs = now.getTime();
    this.#startMs ??= nowMs;
    const since = new Date(Math.max(this.#startMs - overlapMs, nowMs - rememberedMs / 2));
    await this.#addCandidates(subscriptionIds, nowMs);
    const pages = Array.from(this.#candidates.keys(), (deliveryId) => ({
      deliveryId,
      before: null,
      limit: attemptsOfDeliveryMax,
    }));
    const fresh = (await selectAttempts(this.#database, pages))
      .flat()
      .filter(
        (attempt) => attempt.startedAt >= since && !this.#returned.has(`${attempt.deliveryId} ${attempt.number}`),
      );
    for (const { deliveryId, number } of fresh) this.#returned.set(`${deliveryId} ${number}`, nowMs);
    forgetBefore(this.#returned, nowMs - rememberedMs);
    const ids = [...new Set(fresh.map(({ deliveryId }) => deliveryId))].toSorted((a, b) =>
      BigInt(a) > BigInt(b) ? -1 : 1,
    );
    const events = await selectDeliveredEvents(this.#database, ids);
    return fresh
      .map((attempt) => ({ ...attempt, eventType: events.get(attempt.deliveryId)?.eventType ?? null }))
      .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  }

  async #addCandidates(subscriptionIds: readonly SubscriptionId[], nowMs: number): Promise<void> {
    if (subscriptionIds.length === 0) return;
    // Deliveries are visible in another order than that of their ids.
    const min = BigInt(nearestIdAt(new Date(nowMs - overlapMs)));
    const created = await newestIds(
      (...query) => selectDeliveryIds(this.#database, 'every', ...query),
      subscriptionIds,
      { min, before: BigInt(nearestIdAt(new Date(nowMs + dayMs))) },
      newMax,
    );
    const due = await selectDueIds(this.#database, subscriptionIds, dueMax);
    const retried = await selectRetriedIds(this.#database, this.#followed, min.toString(), retriedMax);
    for (const id of [...created, ...due, ...retried]) {
      this.#candidates.delete(id);
      this.#candidates.set(id, nowMs);
    }
    forgetBefore(this.#candidates, nowMs - overlapMs * 6);
    for (const id of this.#candidates.keys()) {
      if (this.#candidates.size <= candidatesMax) break;
      this.#candidates.delete(id);
    }
  }
}

function forgetBefore(times: Map<string, number>, ms: number): void {
  for (const [key, at] of times) if (at < ms) times.delete(key);
}

/** The pending deliveries of each subscription that are due first, within the next 10 seconds. Served by webhook_pending_delivery_due. */
async function selectDueIds(
  database: Database,
  subscriptionIds: readonly SubscriptionId[],
  limit: number,
): Promise<DeliveryId[]> {
  const statement = sql('select-due-ids', 'in-index-order')`
      select due.delivery_id as id
      from unnest($1::bigint[]) as s (id)
      cross join lateral (
        select delivery_id
        from webhook_pending_delivery
        where subscription_id = any (array[s.id]) and due_at < clock_timestamp() + interval '10 seconds'
        order by subscription_id, due_at
        limit $2
      ) due
      limit $2`;
  const rows = await database.query<{ id: DeliveryId }>(statement, [subscriptionIds, limit]);
  return rows.map(({ id }) => id);
}

/** The deliveries that were retried after `afterId`. Served by webhook_retry_by_account. */
async function selectRetriedIds(
  database: Database,
  { accountId, subscriptionId }: Followed,
  afterId: string,
  limit: number,
): Promise<DeliveryId[]> {
  const statement = sql('select-retried-ids')`
      select delivery_id as id
      from webhook_replay
      where account_id = $1 and id > $2 and delivery_id is not null and ($3::bigint is null or subscription_id = $3)
      order by account_id, id desc
      limit $4`;
  const rows = await database.query<{ id: DeliveryId }>(statement, [accountId, afterId, subscriptionId, limit]);
  return rows.map(({ id }) => id);
}
