import type { AccountId, InterfaceName, RecordId } from '@deedwire/domain';
import type { Database } from '../store.ts';

/** One version of one event type. */
export interface EventVersionRef {
  type: string;
  version: string;
}

/** The event types and versions that a worker can render. */
export interface KnownEventVersions {
  types: readonly string[];
  versions: readonly string[];
}

// Leaves alone an event whose type, or whose version pinned by some subscription, this build does not know: a newer worker
// takes it. A subscription that is paused because its version is retired holds nothing up. `$1` and `$2` are the known types
// and versions, side by side.
const isKnown = `
  e.event_type = any ($1::text[])
  and not exists (
    select
    from webhook_subscription s
    join webhook_subscription_event_type t on t.subscription_id = s.id and t.event_type = e.event_type
    where s.account_id = e.account_id and s.deleted_at is null
      and s.paused_reason is distinct from 'VERSION_RETIRED'
      and (t.event_type, t.event_version) not in (select * from unnest($1::text[], $2::text[]))
  )`;

/**
 * The next accounts with events to fan out, by id. Steps from account to account, because `distinct` would read the whole
 * queue of each. Served by outbox_event_queued.
 *
 * @param afterId only accounts with a larger id; null for the first accounts
 */
export async function selectAccountsWithQueuedEvents(
  database: Database,
  known: KnownEventVersions,
  afterId: AccountId | null,
  limit: number,
): Promise<AccountId[]> {
  const statement = {
    name: 'select-accounts-with-queued-events',
    text: `
      with recursive queued (account_id) as (
        select coalesce($3::bigint, 0)
        union all
        select (
          select e.account_id
          from outbox_event e
          where e.account_id > q.account_id and e.fanned_out_at is null and e.fan_out_failed_at is null
          order by e.account_id
          limit 1
        )
        from queued q
        where q.account_id is not null
      )
      select q.account_id as "accountId"
      from queued q
      where q.account_id > coalesce($3::bigint, 0) and exists (
        select
        from outbox_event e
        where e.account_id = q.account_id and e.fanned_out_at is null and e.fan_out_failed_at is null and ${isKnown}
      )
      limit $4`,
  };
  const rows = await database.query<{ accountId: AccountId }>(statement, [known.types, known.versions, afterId, limit]);
  return rows.map(({ accountId }) => accountId);
}

/** Lets one worker at a time fan out the events of an account, until its transaction ends. */
export async function tryLockFanOut(database: Database, accountId: AccountId): Promise<boolean> {
  const statement = {
    name: 'try-lock-fan-out',
    text: `select pg_try_advisory_xact_lock(hashtextextended('fan-out:' || $1::text, 0)) as locked`,
  };
  const [row] = await database.query<{ locked: boolean }>(statement, [accountId]);
  return row?.locked === true;
}

export interface QueuedEventRow {
  id: RecordId<'WebhookEvent'>;
  interfaceName: InterfaceName;
  eventType: string;
  snapshot: unknown;
  occurredAt: Date;
  /** The subscriptions that list the event type, each with the version that it pins, by subscription id. */
  subscriptions: { id: RecordId<'WebhookSubscription'>; version: string }[];
}

/** The oldest events of an account that are not fanned out yet, with who receives them. Served by outbox_event_queued. */
export async function selectQueuedEvents(
  database: Database,
  known: KnownEventVersions,
  accountId: AccountId,
  limit: number,
): Promise<QueuedEventRow[]> {
  const statement = {
    name: 'select-queued-events',
    // Ids as text: JSON numbers lose digits beyond 2^53. Only known versions: what is left unknown is retired and paused.
    text: `
      select e.id, e.interface as "interfaceName", e.event_type as "eventType", e.snapshot, e.occurred_at as "occurredAt",
        (
          select coalesce(json_agg(json_build_object('id', s.id::text, 'version', t.event_version) order by s.id), '[]')
          from webhook_subscription s
          join webhook_subscription_event_type t on t.subscription_id = s.id
          where s.account_id = e.account_id and s.deleted_at is null and t.event_type = e.event_type
            and (t.event_type, t.event_version) in (select * from unnest($1::text[], $2::text[]))
        ) as subscriptions
      from outbox_event e
      where e.account_id = $3 and e.fanned_out_at is null and e.fan_out_failed_at is null and ${isKnown}
      order by e.position
      limit $4`,
  };
  return database.query<QueuedEventRow>(statement, [known.types, known.versions, accountId, limit]);
}

/** Served by outbox_event_pkey. */
export async function markEventsFannedOut(database: Database, ids: readonly RecordId<'WebhookEvent'>[]): Promise<void> {
  const statement = {
    name: 'mark-events-fanned-out',
    text: 'update outbox_event set fanned_out_at = now() where id = any ($1)',
  };
  await database.query(statement, [ids]);
}

/** Sets aside an event that cannot be rendered. Served by outbox_event_pkey. */
export async function markEventFailed(database: Database, id: RecordId<'WebhookEvent'>, error: string): Promise<void> {
  const statement = {
    name: 'mark-event-failed',
    text: 'update outbox_event set fan_out_failed_at = now(), fan_out_error = $2 where id = $1',
  };
  await database.query(statement, [id, error]);
}

/** What needs somebody's attention: events that no worker of this build takes, and events that could not be rendered. */
export interface OutboxAlarms {
  unknown: number;
  failed: number;
}

/** Served by outbox_event_queued and outbox_event_failed. */
export async function countOutboxAlarms(database: Database, known: KnownEventVersions): Promise<OutboxAlarms> {
  const statement = {
    name: 'count-outbox-alarms',
    text: `
      select
        (
          select count(*)::int
          from outbox_event e
          where e.fanned_out_at is null and e.fan_out_failed_at is null and not (${isKnown})
        ) as unknown,
        (select count(*)::int from outbox_event where fan_out_failed_at is not null) as failed`,
  };
  const [row] = await database.query<OutboxAlarms>(statement, [known.types, known.versions]);
  return row ?? { unknown: 0, failed: 0 };
}
