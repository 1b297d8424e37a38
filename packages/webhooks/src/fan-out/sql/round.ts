import { toRecordId } from '@deedwire/core';
import { type Database, onlyRow, type Statement, sql } from '@deedwire/store';
import { liveWorker, rowOfLiveWorker, type WorkerId } from '../../fence/fence.ts';
import type { AccountId, DeliveryId } from '../../kernel/ids.ts';
import { storedOrigin } from '../../kernel/pending-delivery.ts';
import { noteFailures, pgArray, pgTextArray, TextDictionary } from '../../kernel/sql.ts';
import type { PickedEntry, PlannedSubscription, RoundPlan } from '../round-plan.ts';
import { isEntry, rowOfEntry } from './queue.ts';

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
  away: string | null;
  deliveryIds: string | null;
  sequencesBefore: string | null;
  payloads: number;
  writtenAtMs: string;
}

const roundEntries = `unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
          as e (account_id, position, event_id, subscription_id, blocked_on)`;

const rowOfRoundEntry = rowOfEntry(
  'e',
  `
            and event_id is not distinct from e.event_id and subscription_id is not distinct from e.subscription_id`,
);

/**
 * The statement of `writeRound`. PostgreSQL sets each part of a statement up at every execution, including those that find nothing to
 * do, so almost all rounds use one without the parts for blocked, deferred and failed entries.
 */
function roundStatement(name: string, isExceptional: boolean): Statement {
  const ifExceptional = (part: string): string => (isExceptional ? part : '');
  return sql(name)`
      with live_${liveWorker},
      away as (select account_id from account_away where account_id = any($30::bigint[])),
      -- Of a round with an account that is not at home, nothing is written.
      worker as (select id from live_worker where not exists (select from away)),
      done as (
        delete from webhook_event_queue q using worker, ${roundEntries} where q.ctid = ${rowOfRoundEntry} and e.blocked_on is null
        returning q.position
      ),${ifExceptional(`
      blocked as (
        update webhook_event_queue q set blocked_on = e.blocked_on
        from worker, ${roundEntries} where q.ctid = ${rowOfRoundEntry} and e.blocked_on is not null
        returning q.position
      ),`)}
      numbered as (
        update webhook_subscription_sequence s set last_sequence = s.last_sequence + n.count
        from worker, unnest($7::bigint[], $8::int[]) with ordinality as n (subscription_id, count, index)
        where s.subscription_id = n.subscription_id
        returning n.index, s.last_sequence - n.count as last_before
      ),
      sequences as (select array_agg(last_before order by index) as last_before, count(*) as count from numbered),
      delivery as materialized (
        select new_record_id() as id, d.number, ($7::bigint[])[d.subscription] as subscription_id,
          ($9::bigint[])[d.subscription] as account_id, ($10::interface_name[])[d.subscription] as interface,
          d.event_id, ($11::text[])[d.type] as event_type, ($12::text[])[d.version] as event_version, d.occurred_at,
          d.request_id, sequences.last_before[d.subscription] + d.ordinal as sequence, d.body_bytes,
          d.event_id = any($27::bigint[]) as is_test, d.subscription = any($28::int[]) as is_listener, d.record_id
        from worker, sequences,
          unnest(
            $13::int[], $14::int[], $15::bigint[], $16::smallint[], $17::smallint[], $18::timestamptz[], $19::text[], $20::int[],
            $29::bigint[]
          ) with ordinality
            as d (subscription, ordinal, event_id, type, version, occurred_at, request_id, body_bytes, record_id, number)
      ),
      stored as (
        insert into webhook_delivery (
          id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence, is_test, record_id
        )
        select id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence, is_test,
          record_id
        from delivery
      ),
      pending as (
        insert into webhook_pending_delivery (
          subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, request_id,
          sequence, due_at, body_bytes, is_test
        )
        select subscription_id, id, account_id, interface, event_id, event_type, event_version, occurred_at, request_id,
          sequence, date_trunc('milliseconds', now()), body_bytes, is_test
        from delivery where body_bytes is not null and not is_listener
      ),${ifExceptional(`
      failed as (
        insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
        select subscription_id, id, interface from delivery where body_bytes is null
      ),
      failure_to_report as (${noteFailures('delivery', 'id', 'body_bytes is null and not is_listener')}
      ),
      failed_attempt as (
        insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, error)
        select id, 1, subscription_id, interface, now(), 0, 'RENDERING_FAILED' from delivery where body_bytes is null
      ),`)}
      payload as (
        insert into webhook_payload (event_id, event_version, interface, body)
        select p.event_id, ($12::text[])[p.version], p.interface, substring($25::bytea from p.start for p.size)
        from worker, unnest($21::bigint[], $22::smallint[], $23::interface_name[], $24::int[], $26::int[])
          as p (event_id, version, interface, start, size)
        on conflict do nothing returning event_id
      )${ifExceptional(`,
      deferred as (
        insert into webhook_event_queue (account_id, interface, event_id, subscription_id, blocked_on)
        select r.account_id, r.interface, r.event_id, r.subscription_id, r.blocked_on
        from worker, unnest($31::bigint[], $32::interface_name[], $33::bigint[], $34::bigint[], $35::text[])
          as r (account_id, interface, event_id, subscription_id, blocked_on)
      )`)}
      select exists (select from live_worker) as "isAlive", (select string_agg(account_id::text, ',') from away) as away,
        (select string_agg(id::text, ',' order by number) from delivery) as "deliveryIds",
        (select array_to_string(last_before, ',') from sequences) as "sequencesBefore",
        (select count(*) from payload)::int as payloads,
        (extract(epoch from date_trunc('milliseconds', now())) * 1000)::bigint as "writtenAtMs",
        case when exists (select from worker) then
          1 / ((select count(*) from done)${ifExceptional(' + (select count(*) from blocked)')} = cardinality($2::bigint[]))::int
            + sqrt(-((select count from sequences) <> cardinality($7::bigint[]))::int)
        end`;
}

const usualRound = roundStatement('fan-out-write-round', false);
const exceptionalRound = roundStatement('fan-out-write-round-with-exceptions', true);

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
 * Served by webhook_event_queue_identity or _pkey, and webhook_subscription_sequence_pkey.
 *
 * @param isExceptional use the statement for rounds with exceptions
 * @throws {FencedOutError} if the worker was declared dead. Nothing was written.
 * @throws {AccountsAwayError} if accounts are not at home. Nothing was written.
 */
export async function writeRound(
  database: Database,
  workerId: WorkerId,
  plan: RoundPlan,
  isExceptional = hasExceptions(plan),
): Promise<WrittenRound> {
  const statement = isExceptional ? exceptionalRound : usualRound;
  const parameters = roundParameters(plan);
  if (isExceptional) parameters.push(...exceptionParameters(plan));
  const rows = await database.query<Row>(statement, [workerId, ...parameters]);
  const row = rowOfLiveWorker(rows, workerId);
  if (row.away !== null) throw new AccountsAwayError(new Set(split(row.away).map((id) => toRecordId(id))));
  return {
    deliveryIds: split(row.deliveryIds).map((id) => toRecordId(id)),
    sequencesBefore: split(row.sequencesBefore).map(Number),
    writtenAtMs: Number(row.writtenAtMs),
    storedAllPayloads: row.payloads === plan.payloads.length,
  };
}

/** Accounts of a round are not at home, so it wrote nothing. */
export class AccountsAwayError extends Error {
  override readonly name = 'AccountsAwayError';
  readonly accounts: ReadonlySet<AccountId>;

  constructor(accounts: ReadonlySet<AccountId>) {
    super(`The accounts ${[...accounts].join(', ')} are not at home.`);
    this.accounts = accounts;
  }
}

/** Whether the write failed because an entry is no longer in the queue. It then wrote nothing. */
export function isStaleRound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '22012';
}

/** A condition: the row exists, and another transaction has locked it. With the offset, PostgreSQL looks each row up. */
const isLocked = (table: string, condition: string): string =>
  `exists (select from ${table} where ${condition} offset 0)
        and not exists (select from ${table} where ${condition} for update skip locked)`;

/**
 * Returns those of the accounts that have a locked row: an entry in the queue, or the sequence of a subscription.
 *
 * Served by webhook_event_queue_identity or _pkey, and webhook_subscription_sequence_pkey.
 */
export async function readLockedAccounts(
  database: Database,
  entries: readonly PickedEntry[],
  subscriptions: readonly Pick<PlannedSubscription, 'accountId' | 'id'>[],
): Promise<Set<AccountId>> {
  const statement = sql('fan-out-read-locked-accounts')`
      select account_id::text as id
      from unnest($1::bigint[], $2::bigint[]) as e (account_id, position)
      where ${isLocked('webhook_event_queue q', isEntry('q', 'e'))}
      union
      select account_id::text
      from unnest($3::bigint[], $4::bigint[]) as s (account_id, subscription_id)
      where ${isLocked('webhook_subscription_sequence q', 'q.subscription_id = s.subscription_id')}`;
  const rows = await database.query<{ id: string }>(statement, [
    pgArray(entries.map(({ account }) => account.id)),
    pgArray(entries.map(({ entry }) => entry.position)),
    pgArray(subscriptions.map(({ accountId }) => accountId)),
    pgArray(subscriptions.map(({ id }) => id)),
  ]);
  return new Set(rows.map(({ id }) => toRecordId(id)));
}

/**
 * Waits for all writes of these entries that are in progress, and returns whether one of the entries is no longer in the queue. If
 * none is missing, a write of them was not executed, and will not be once another write has deleted one of them.
 *
 * Served by webhook_event_queue_identity or _pkey.
 */
export async function areGone(database: Database, entries: readonly PickedEntry[]): Promise<boolean> {
  const statement = sql('fan-out-are-gone')`
      select count(*) < cardinality($1::bigint[]) as "areGone"
      from unnest($1::bigint[], $2::bigint[]) as e (account_id, position)
      cross join lateral (select from webhook_event_queue q where ${isEntry('q', 'e')} limit 1 for update) q`;
  const accounts = pgArray(entries.map(({ account }) => account.id));
  const values = [accounts, pgArray(entries.map(({ entry }) => entry.position))];
  return onlyRow(await database.query<{ areGone: boolean }>(statement, values)).areGone;
}

function split(text: string | null): string[] {
  return text === null || text === '' ? [] : text.split(',');
}

/** The parameters of the write, from $2 on. Array subscripts start at 1. */
function roundParameters(plan: RoundPlan): unknown[] {
  const { done, blocked, subscriptions, deliveries, payloads } = plan;
  const entries = [...done, ...blocked];
  const types = new TextDictionary();
  const versions = new TextDictionary();
  const deliveryTypes = deliveries.map(({ event }) => types.add(event.type));
  const deliveryVersions = deliveries.map(({ version }) => versions.add(version));
  const payloadVersions = payloads.map(({ version }) => versions.add(version));
  const starts: number[] = [];
  let start = 1;
  for (const { body } of payloads) {
    starts.push(start);
    start += body.length;
  }
  return [
    pgArray(entries.map(({ account }) => account.id)),
    pgArray(entries.map(({ entry }) => entry.position)),
    pgArray(entries.map(({ entry }) => entry.eventId)),
    pgArray(entries.map(({ entry }) => entry.subscriptionId)),
    pgTextArray([...done.map(() => null), ...blocked.map(({ blockedOn }) => blockedOn)]),
    pgArray(subscriptions.map(({ id }) => id)),
    pgArray(subscriptions.map(({ count }) => count)),
    pgArray(subscriptions.map(({ accountId }) => accountId)),
    pgArray(subscriptions.map(({ interfaceName }) => interfaceName)),
    types.toPgArray(),
    versions.toPgArray(),
    pgArray(deliveries.map(({ subscription }) => subscription.index + 1)),
    pgArray(deliveries.map(({ ordinal }) => ordinal)),
    pgArray(deliveries.map(({ event }) => event.id)),
    pgArray(deliveryTypes),
    pgArray(deliveryVersions),
    pgArray(deliveries.map(({ event }) => event.occurredAt)),
    pgTextArray(deliveries.map(({ event }) => storedOrigin(event))),
    pgArray(deliveries.map(({ payload }) => payload?.body.length ?? null)),
    pgArray(payloads.map(({ event }) => event.id)),
    pgArray(payloadVersions),
    pgArray(payloads.map(({ event }) => event.interfaceName)),
    pgArray(starts),
    Buffer.concat(
      payloads.map(({ body }) => body),
      start - 1,
    ),
    pgArray(payloads.map(({ body }) => body.length)),
    // Few. A flag for each delivery would cost all rounds more.
    pgArray(deliveries.flatMap(({ event }) => (event.isTest ? [event.id] : []))),
    pgArray(subscriptions.flatMap(({ index, isListener }) => (isListener ? [index + 1] : []))),
    pgArray(deliveries.map(({ event }) => event.recordId)),
    pgArray([...new Set(entries.map(({ account }) => account.id))]),
  ];
}

/** Whether entries are blocked or deferred, or deliveries have failed. */
function hasExceptions({ blocked, deferred, deliveries }: RoundPlan): boolean {
  return blocked.length > 0 || deferred.length > 0 || deliveries.some(({ payload }) => payload === null);
}

/** The parameters after those of `roundParameters`. */
function exceptionParameters({ deferred }: RoundPlan): unknown[] {
  return [
    pgArray(deferred.map(({ accountId }) => accountId)),
    pgArray(deferred.map(({ interfaceName }) => interfaceName)),
    pgArray(deferred.map(({ eventId }) => eventId)),
    pgArray(deferred.map(({ subscriptionId }) => subscriptionId)),
    pgTextArray(deferred.map(({ eventType }) => eventType)),
  ];
}
