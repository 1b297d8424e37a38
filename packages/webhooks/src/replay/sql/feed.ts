import { type Database, sql } from '@deedwire/store';
import { FencedOutError, liveWorker, type WorkerId } from '../../fence/fence.ts';
import type { DeliveryId } from '../../kernel/ids.ts';
import { noClaims, originOf, type PendingDelivery } from '../../kernel/pending-delivery.ts';
import { idRange, isHome, pendingRow, pgArray, TextDictionary } from '../../kernel/sql.ts';
import type { FeedResult, OpenReplay, ReplayPart } from '../storage.ts';
import { dueOfRetry } from './retry.ts';

// The row of the replay is locked before it advances, so that nothing is queued after a cancellation was committed. A failed
// delivery is queued only by the statement that deletes the failure, and a delivery that is pending is skipped: the insert finds it,
// or a retry has deleted its failure.
// The limits keep this a lookup per delivery and table. webhook_worker, webhook_replay, webhook_subscription and the tables of
// the history by primary key, in the partitions between the first and the last id.
const feedStatement = sql('feed-replay')`
    with ${liveWorker}, replay as (
      select r.id, r.account_id, r.interface, r.subscription_id, r.delivery_id
      from worker
      join webhook_replay r on r.id = $2 and r.last_id = $3 and r.ended_at is null and r.cancelled_at is null
      join webhook_subscription s on s.id = r.subscription_id and s.account_id = r.account_id
        and s.paused_reason is null and s.deleted_at is null and ${isHome('s.account_id')}
      for no key update of r
    ), found as materialized (
      select r.id as replay_id, r.account_id, r.interface, r.subscription_id, l.number, l.id, l.event_id,
        ($6::text[])[l.type] as event_type, ($7::text[])[l.version] as event_version,
        to_timestamp(l.occurred_ms / 1000.0::float8) as occurred_at, l.sequence, p.body, e.request_id,
        coalesce(e.is_test, false) as is_test,
        coalesce(a.number, 0) as attempts,
        ${dueOfRetry} as due_at
      from replay r
      cross join unnest($8::bigint[], $9::bigint[], $10::int[], $11::int[], $12::bigint[], $13::bigint[]) with ordinality
        as l (id, event_id, type, version, occurred_ms, sequence, number)
      left join lateral (
        select body
        from webhook_payload
        where event_id = l.event_id and event_version = ($7::text[])[l.version] and event_id between $14 and $15
        limit 1
      ) p on l.id >= (select expired_before from webhook_retention)
      left join lateral (
        select request_id, is_test from webhook_event where id = l.event_id and id between $14 and $15 limit 1
      ) e on true
      left join lateral (
        select number
        from webhook_attempt
        where delivery_id = l.id and delivery_id between $16 and $17
        order by number desc
        limit 1
      ) a on true
    ), unfailed as (
      delete from webhook_failed_delivery f
      using found
      where f.subscription_id = found.subscription_id and f.delivery_id = found.id and found.body is not null
      returning f.delivery_id
    ), queued as (
      insert into webhook_pending_delivery (
        subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, request_id,
        sequence, due_at, attempts, body_bytes, prior_attempts, replay_id, is_test
      )
      select subscription_id, id, account_id, interface, event_id, event_type, event_version, occurred_at, request_id,
        sequence, due_at, attempts, octet_length(body), attempts, replay_id, is_test
      from found
      where body is not null and (not $5::boolean or id in (select delivery_id from unfailed))
      on conflict (subscription_id, delivery_id) do nothing
      returning delivery_id
    ), advanced as (
      update webhook_replay r
      set last_id = $4, queued = r.queued + done.queued, skipped = r.skipped + cardinality($8::bigint[]) - done.queued,
        skipped_pending = r.skipped_pending + done.pending, ended_at = case when $18::boolean then now() end
      from replay, (
        select count(*) filter (where is_queued)::int as queued,
          count(*) filter (
            where not is_queued and body is not null and (not $5::boolean or ${pendingRow} is not null)
          )::int as pending
        from (select subscription_id, id as delivery_id, body, id in (select delivery_id from queued) as is_queued from found) r
      ) done
      where r.id = replay.id
      returning r.id
    )
    select fed.*, found.number::int as number, found.attempts, found.request_id as "requestId", found.is_test as "isTest", found.body,
      round(date_part('epoch', found.due_at) * 1000) as "dueAtMs"
    from (select exists (select from worker) as "isAlive", exists (select from advanced) as "isFed") fed
    left join found on found.id in (select delivery_id from queued)
    order by found.number`;

type FedRow = { isAlive: boolean; isFed: boolean } & (
  | { number: null }
  | { number: number; attempts: number; requestId: string | null; isTest: boolean; body: Buffer; dueAtMs: number }
);

/**
 * Queues the deliveries of a part of a replay that have a payload and are not pending, and advances the replay to its end.
 *
 * @throws {FencedOutError} if the worker was declared dead. Nothing was written.
 */
export async function feedReplay(
  database: Database,
  workerId: WorkerId,
  { id: replayId, lane, onlyFailed }: OpenReplay,
  after: DeliveryId,
  { deliveries, lastId, isLast }: ReplayPart,
): Promise<FeedResult> {
  const types = new TextDictionary();
  const versions = new TextDictionary();
  const typeNumbers = deliveries.map(({ eventType }) => types.add(eventType));
  const versionNumbers = deliveries.map(({ eventVersion }) => versions.add(eventVersion));
  const rows = await database.query<FedRow>(feedStatement, [
    workerId,
    replayId,
    after,
    lastId,
    onlyFailed,
    types.toPgArray(),
    versions.toPgArray(),
    pgArray(deliveries.map(({ id }) => id)),
    pgArray(deliveries.map(({ eventId }) => eventId)),
    pgArray(typeNumbers),
    pgArray(versionNumbers),
    pgArray(deliveries.map(({ occurredAtMs }) => occurredAtMs)),
    pgArray(deliveries.map(({ sequence }) => sequence)),
    ...idRange(deliveries.map(({ eventId }) => eventId)),
    ...idRange(deliveries.map(({ id }) => id)),
    isLast,
  ]);
  if (rows[0]?.isAlive !== true) throw new FencedOutError(workerId);
  if (!rows[0].isFed) return 'changed';
  const queued: PendingDelivery[] = [];
  for (const row of rows) {
    const delivery = row.number === null ? undefined : deliveries[row.number - 1];
    if (row.number === null || delivery === undefined) continue;
    const { attempts, requestId, isTest, body, dueAtMs } = row;
    queued.push({
      ...lane,
      deliveryId: delivery.id,
      eventId: delivery.eventId,
      eventType: delivery.eventType,
      eventVersion: delivery.eventVersion,
      occurredAt: new Date(delivery.occurredAtMs),
      ...originOf(requestId),
      isTest,
      sequence: delivery.sequence,
      attempts,
      priorAttempts: attempts,
      replayId,
      claims: noClaims,
      dueAtMs,
      body,
    });
  }
  return queued;
}
