import { toRecordId } from '@deedwire/domain';
import type { Database } from '@deedwire/store';
import { rowOfLiveWorker } from '../fence/row-of-live-worker.ts';
import type { WorkerId } from '../fence/worker-id.ts';
import type { DeliveryId } from '../kernel/ids.ts';
import { roundParameters } from './round-parameters.ts';
import type { RoundPlan } from './round-plan.ts';

export interface WrittenRound {
  /** In the order of the plan's deliveries. */
  readonly deliveryIds: readonly DeliveryId[];
  /** The last sequence of each subscription before the round, in the order of the plan's subscriptions. */
  readonly sequencesBefore: readonly number[];
  /** The time of the transaction, at which the deliveries are due. */
  readonly writtenAtMs: number;
  /** False if another round has stored one of the payloads, possibly with other bytes. */
  readonly storedAllPayloads: boolean;
}

interface Row {
  isAlive: boolean;
  deliveryIds: string | null;
  sequencesBefore: string | null;
  payloads: number;
  writtenAtMs: string;
}

/**
 * Writes a round completely, or not at all. The last expression divides by zero unless every entry was in the queue, and
 * takes the root of -1 unless every subscription has a sequence. Each writing part joins `worker`: PostgreSQL neither
 * executes nor locks a CTE that nothing refers to.
 *
 * An entry is deleted or blocked only if it is for the same event and subscription: after a failover to an asynchronous standby, the
 * position of a lost entry is drawn again.
 *
 * Deliveries do not join the sequences: a subscript of an array of fixed-length elements takes constant time, while the
 * planner expects ten rows from `unnest` and would choose nested loops.
 *
 * Entries are looked up one by one: statistics of an empty queue would make the planner compare each entry of a backlog with
 * each entry of the round.
 *
 * Served by webhook_event_queue_pkey and webhook_subscription_sequence_pkey.
 *
 * @throws {FencedOutError} if the worker was declared dead. Nothing was written.
 */
export async function writeRound(database: Database, workerId: WorkerId, plan: RoundPlan): Promise<WrittenRound> {
  const statement = {
    name: 'fan-out-write-round',
    text: `
      with worker as (select id from webhook_worker where id = $1 and alive for key share),
      entry as materialized (
        select found.ctid, e.blocked_on
        from worker, unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
          as e (shard, position, event_id, subscription_id, blocked_on)
        cross join lateral (
          select ctid
          from webhook_event_queue
          where shard = e.shard and position = e.position
            and event_id is not distinct from e.event_id and subscription_id is not distinct from e.subscription_id
          limit 1
        ) found
      ),
      done as (
        delete from webhook_event_queue q
        using entry
        where q.ctid = entry.ctid and entry.blocked_on is null
        returning q.position
      ),
      blocked as (
        update webhook_event_queue q
        set blocked_on = entry.blocked_on
        from entry
        where q.ctid = entry.ctid and entry.blocked_on is not null
        returning q.position
      ),
      numbered as (
        update webhook_subscription_sequence s
        set last_sequence = s.last_sequence + n.count
        from worker, unnest($7::bigint[], $8::int[]) with ordinality as n (subscription_id, count, index)
        where s.subscription_id = n.subscription_id
        returning n.index, s.last_sequence - n.count as last_before
      ),
      sequences as (select array_agg(last_before order by index) as last_before, count(*) as count from numbered),
      delivery as materialized (
        select new_record_id() as id, d.number, ($7::bigint[])[d.subscription] as subscription_id,
          ($9::bigint[])[d.subscription] as account_id, ($10::interface_name[])[d.subscription] as interface,
          d.event_id, ($11::text[])[d.type] as event_type, ($12::text[])[d.version] as event_version, d.occurred_at,
          d.request_id, sequences.last_before[d.subscription] + d.ordinal as sequence, d.body_bytes
        from worker, sequences,
          unnest(
            $13::int[], $14::int[], $15::bigint[], $16::smallint[], $17::smallint[], $18::timestamptz[], $19::text[], $20::int[]
          ) with ordinality
          as d (subscription, ordinal, event_id, type, version, occurred_at, request_id, body_bytes, number)
      ),
      stored as (
        insert into webhook_delivery (
          id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence
        )
        select id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence
        from delivery
      ),
      pending as (
        insert into webhook_pending_delivery (
          subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, request_id,
          sequence, due_at, body_bytes
        )
        select subscription_id, id, account_id, interface, event_id, event_type, event_version, occurred_at, request_id,
          sequence, date_trunc('milliseconds', now()), body_bytes
        from delivery
        where body_bytes is not null
      ),
      failed as (
        insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
        select subscription_id, id, interface
        from delivery
        where body_bytes is null
      ),
      failed_attempt as (
        insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, error)
        select id, 1, subscription_id, interface, now(), 0, 'RENDERING_FAILED'
        from delivery
        where body_bytes is null
      ),
      payload as (
        insert into webhook_payload (event_id, event_version, interface, body)
        select p.event_id, ($12::text[])[p.version], p.interface, substring($25::bytea from p.start for p.size)
        from worker, unnest($21::bigint[], $22::smallint[], $23::interface_name[], $24::int[], $26::int[])
          as p (event_id, version, interface, start, size)
        on conflict do nothing
        returning event_id
      ),
      deferred as (
        insert into webhook_event_queue (account_id, interface, event_id, subscription_id, blocked_on)
        select r.account_id, r.interface, r.event_id, r.subscription_id, r.blocked_on
        from worker, unnest($27::bigint[], $28::interface_name[], $29::bigint[], $30::bigint[], $31::text[])
          as r (account_id, interface, event_id, subscription_id, blocked_on)
      )
      select exists (select from worker) as "isAlive",
        (select string_agg(id::text, ',' order by number) from delivery) as "deliveryIds",
        (select array_to_string(last_before, ',') from sequences) as "sequencesBefore",
        (select count(*) from payload)::int as payloads,
        (extract(epoch from date_trunc('milliseconds', now())) * 1000)::bigint as "writtenAtMs",
        case when exists (select from worker) then
          1 / ((select count(*) from done) + (select count(*) from blocked) = cardinality($2::smallint[]))::int
            + sqrt(-((select count from sequences) <> cardinality($7::bigint[]))::int)
        end`,
  };
  const rows = await database.query<Row>(statement, [workerId, ...roundParameters(plan)]);
  const row = rowOfLiveWorker(rows, workerId);
  return {
    deliveryIds: split(row.deliveryIds).map((id) => toRecordId(id)),
    sequencesBefore: split(row.sequencesBefore).map(Number),
    writtenAtMs: Number(row.writtenAtMs),
    storedAllPayloads: row.payloads === plan.payloads.length,
  };
}

/** Whether the write failed because an entry is no longer in the queue. It then wrote nothing. */
export function isStaleRound(error: unknown): boolean {
  return sqlState(error) === '22012';
}

function sqlState(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function split(text: string | null): string[] {
  return text === null || text === '' ? [] : text.split(',');
}
