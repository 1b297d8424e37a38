import { interfaceNames, interfaces, portalClientPattern } from '@deedwire/domain';
import { type Database, onlyRow, sql } from './database.ts';
import { neededMigration } from './pending-migrations.ts';

const accountTypes = interfaceNames.map((name) => `when '${name}' then '${interfaces[name].accountType}'`).join(' ');

const accountGid = (table: string) =>
  `'gid://' || $1 || '/' || case ${table}.interface::text ${accountTypes} end || '/' || ${table}.account_id`;

/**
 * Clients that pin a version, and subscriptions and listeners that pin an event, `type@version`. $1 is the namespace of global
 * identifiers.
 */
const pins = `
  select 'gid://' || $1 || case s.kind when 'LISTENER' then '/WebhookListener/' else '/WebhookSubscription/' end || s.id as id,
    ${accountGid('s')} as account, s.interface, t.event_type || '@' || t.event_version as event, null as version
  from webhook_subscription s
  join webhook_subscription_event_type t on t.subscription_id = s.id
  where s.deleted_at is null
  union all
  select c.client_id, ${accountGid('c')}, c.interface, null, c.schema_version
  from api_client c
  where c.client_id !~ '${portalClientPattern}'
  order by 1, 4`;

/** How often a client used a version, or a coordinate of it. The coordinate is null for the version itself. */
const uses = `
  select c.client_id as client, ${accountGid('c')} as account, c.interface, u.version, nullif(u.coordinate, '') as coordinate,
    "firstDay", "lastDay", u.count
  from (
    select api_client_id, version, coordinate, min(day) as "firstDay", max(day) as "lastDay", sum(count)::bigint as count
    from interface_use
    group by api_client_id, version, coordinate
  ) u
  join api_client c on c.id = u.api_client_id
  order by 1, 4, 5`;

const list = (query: string) => `(select coalesce(json_agg(l), '[]') from (${query}) l)`;

/** So many events and deliveries that wait are looked at: reading them takes less than 0.2 s. */
const eventsMax = 10_000;
const deliveriesMax = 100_000;

/** A process stores its counts every minute. One whose time is in the future did not run on since the clock was set back. */
const isCounting = `state = 'OPEN' and recorded_at between now() - interval '150 seconds' and now() + interval '1 second'`;

/**
 * The periods in which use may be lost: after the last counts of a process that was killed or could not store them, in an overflow,
 * and while no process of an app counted.
 */
const gaps = `
  select app, "from", until, reason
  from (
    select app, case when counted_until > now() then now() - interval '1 minute' else counted_until end as "from",
      case state when 'LOST' then seen_at else least(seen_at + interval '1 minute', now()) end as until,
      case state when 'LOST' then 'counts were not stored' else 'a process ended without storing its counts' end as reason
    from use_counting
    where state = 'LOST' or state = 'OPEN' and not (${isCounting})
    union all
    select app, counted_from, counted_until, 'too many keys to count' from use_counting where state = 'OVERFLOWED'
    union all
    select app, lower(hole), upper(hole), 'no process counted'
    from (
      select app, tstzrange(min(counted_from), greatest(min(counted_from), now()))::tstzmultirange - range_agg(
        tstzrange(counted_from, case when ${isCounting} then greatest(counted_until, now()) else counted_until end)
      ) as holes
      from use_counting
      group by app
    ) c
    cross join unnest(holes) as hole
  ) g
  where until > "from"
  order by app, "from", reason`;

/**
 * What runs, what is pinned and what is used, in one snapshot, as `contract-check` reads it. Reads `interface_use` as a whole, and the
 * start of the tables of events and deliveries that wait.
 */
export async function selectEnvironment(database: Database, gidNamespace: string): Promise<Record<string, unknown>> {
  const statement = sql('environment')`
      with live as materialized (
        select app, version, digest, started_at as "startedAt", last_seen_at as "lastSeenAt"
        from app_process
        where last_seen_at > now() - case when app = 'operator-cli'
          -- After an outage, others may not have reached the database yet.
          or not exists (select from use_counting where ${isCounting} and counted_from < now() - interval '3 minutes')
          then interval '24 hours' else '3 minutes' end
      ), unregistered as (
        select distinct substring(application_name from '^deedwire-(.*-api)') as app
        from pg_stat_activity
        where datname = current_database() and (
          -- As APIs of releases that do not register name their connections.
          application_name ~ '^deedwire-.*-api-costs$'
          -- A login of the owner of the tables, which cannot register.
          or not pg_has_role(usesysid, to_regrole(replace(substring(application_name from '^deedwire-(.*-api)$'), '-', '_')), 'member')
        )
        union all
        select 'webhook-worker'
        -- One that was killed is in both for 3 minutes, so that it hides no other.
        where (select count(*) from webhook_worker where leased_until > now() - interval '3 minutes')
          > (select count(*) from live where app = 'webhook-worker' and "lastSeenAt" > now() - interval '3 minutes')
      ), waiting_event as materialized (
        select event_id from webhook_event_queue where event_id is not null limit ${eventsMax}
      ), waiting_delivery as materialized (
        select event_type, event_version from webhook_pending_delivery limit ${deliveriesMax}
      )
      select installation_id as installation, cell, now() as "takenAt",
        (select array_agg(name order by name) from schema_migration) as migrations,
        ${list(`
          select * from live
          union all
          select app, 'unknown', null, now(), now() from unregistered
          order by 1, 4`)} as processes,
        (
          -- Those of the processes, and those that builds before them stored.
          select coalesce(json_object_agg(digest, contracts::json order by digest), '{}')
          from app_contracts
        ) as contracts,
        ${list(pins)} as pins,
        ${list(`
          select e.event_type as type, null as event, count(*) as count
          from waiting_event w
          cross join lateral (select event_type from webhook_event where id = w.event_id offset 0) e
          group by e.event_type
          union all
          select event_type, event_type || '@' || event_version, count(*)
          from waiting_delivery
          group by event_type, event_version
          order by 1, 2`)} as queued,
        (select count(*) = ${eventsMax} from waiting_event) or (select count(*) = ${deliveriesMax} from waiting_delivery)
          as "isQueueCut",
        ${list(uses)} as uses,
        ${list(`
          select app, process_id as instance, counted_from as from, counted_until as until, state = 'OVERFLOWED' as overflowed,
            coordinates
          from use_counting
          order by app, counted_from, id`)} as counting,
        ${list(gaps)} as gaps
      from installation`;
  const read = await database.query<Record<string, unknown> & { migrations: string[] }>(statement, [gidNamespace]);
  const { migrations, ...row } = onlyRow(read);
  const needed = migrations.flatMap((name) => neededMigration(name) ?? []).toSorted();
  return { ...row, migration: migrations.at(-1) ?? '', needsMigration: needed.at(-1) ?? null };
}

/** A client or subscription that pins or uses a version that ends. */
export interface EndingUse {
  /** The client, or the global identifier of a subscription or listener. */
  id: string;
  account: string;
  /** `lender@2026-11-01` or `referral.created@2026-11-01`. */
  version: string;
  sunsetOn: string;
  isPinned: boolean;
  /** `YYYY-MM-DD`. Null for events, and for a version that the client has not used in the last 400 days. */
  lastUsedOn: string | null;
}

/** @param sunsets the day of each version that ends */
export async function selectEndingUse(
  database: Database,
  gidNamespace: string,
  sunsets: ReadonlyMap<string, string>,
): Promise<EndingUse[]> {
  const statement = sql('ending-use')`
      select id, account, version, sunset as "sunsetOn", bool_or("isPinned") as "isPinned", max(day)::text as "lastUsedOn"
      from (
        select id, account, coalesce(event, interface || '@' || version) as version, true as "isPinned", null::date as day
        from (${pins}) p
        union all
        select client, account, interface || '@' || version, false, "lastDay" from (${uses}) u where coordinate is null
      ) used
      join unnest($2::text[], $3::text[]) as ending (version, sunset) using (version)
      group by id, account, version, sunset
      order by sunset, id`;
  return database.query<EndingUse>(statement, [gidNamespace, [...sunsets.keys()], [...sunsets.values()]]);
}
