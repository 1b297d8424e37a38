import { type Database, onlyRow } from './database.ts';
import { neededMigration } from './pending-migrations.ts';

/** A client that pins a version, or a subscription or listener that pins an event. */
export interface Pin {
  id: string;
  account: string;
  interface: string;
  /** `type@version` */
  event: string | null;
  version: string | null;
}

/** How often a client used a version, or a coordinate of it. */
export interface Use {
  client: string;
  account: string;
  interface: string;
  version: string;
  /** Null for the version itself. */
  coordinate: string | null;
  firstDay: string;
  lastDay: string;
  count: number;
}

/** A period in which a process counted. */
export interface Counting {
  app: string;
  instance: string;
  from: string;
  until: string;
  overflowed: boolean;
  /** The deprecated ones that it counted, one a line: `2026-11-01 Query.old`. */
  coordinates: string;
  state: 'OPEN' | 'ENDED' | 'LOST' | 'OVERFLOWED';
  recordedAt: string;
  seenAt: string;
}

export interface VersionUse {
  pins: Pin[];
  uses: Use[];
}

export interface EnvironmentRow extends VersionUse {
  installation: string;
  takenAt: Date;
  /** The last applied one. */
  migration: string;
  /** The highest number that an applied migration needs: builds with an earlier last migration do not start. */
  needsMigration: string | null;
  processes: unknown[];
  /** By digest: those of `processes`, and those that builds before them stored. */
  contracts: Record<string, unknown>;
  queued: unknown[];
  /** More events or deliveries wait than were looked at. */
  isQueueCut: boolean;
  /** Of each app in the order of their starts. */
  counting: Counting[];
}

const accountGid = (table: string) =>
  `'gid://' || $1 || '/' || initcap(${table}.interface::text) || '/' || ${table}.account_id`;

/** $1 is the namespace of global identifiers. */
const pins = `
  select 'gid://' || $1 || case s.kind when 'LISTENER' then '/WebhookListener/' else '/WebhookSubscription/' end || s.id as id,
    ${accountGid('s')} as account, s.interface, t.event_type || '@' || t.event_version as event, null as version
  from webhook_subscription s
  join webhook_subscription_event_type t on t.subscription_id = s.id
  where s.deleted_at is null
  union all
  select c.client_id, ${accountGid('c')}, c.interface, null, c.schema_version
  from api_client c
  where c.client_id !~ '^portal_(lender|partner)_[0-9]+$'
  order by 1, 4`;

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

/**
 * Reads what runs, what is pinned and what is used, in one snapshot. Reads `interface_use` as a whole, and the start of the tables of
 * events and deliveries that wait.
 */
export async function selectEnvironment(database: Database, gidNamespace: string): Promise<EnvironmentRow> {
  const statement = {
    name: 'environment',
    text: `
      with live as materialized (
        select app, version, digest, started_at as "startedAt", last_seen_at as "lastSeenAt"
        from app_process
        where last_seen_at > now() - case app when 'operator-cli' then interval '24 hours' else '3 minutes' end
      ), unregistered as (
        select app
        from (values ('lender-api'), ('partner-api')) as known (app)
        -- As apps of releases that do not register name their connections.
        where exists (
          select from pg_stat_activity
          where datname = current_database() and application_name = 'deedwire-' || app || '-costs'
        )
        union all
        select 'webhook-worker'
        where (select count(*) from webhook_worker where alive and leased_until > now())
          > (select count(*) from live where app = 'webhook-worker')
      ), waiting_event as materialized (
        select event_id from webhook_event_queue where event_id is not null limit ${eventsMax}
      ), waiting_delivery as materialized (
        select event_type, event_version from webhook_pending_delivery limit ${deliveriesMax}
      )
      select installation_id as installation, now() as "takenAt",
        (select array_agg(name order by name) from schema_migration) as migrations,
        ${list(`
          select * from live
          union all
          select app, 'unknown', null, now(), now() from unregistered
          order by 1, 4`)} as processes,
        (
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
            coordinates, state, recorded_at as "recordedAt", seen_at as "seenAt"
          from use_counting
          order by app, counted_from, id`)} as counting
      from installation`,
  };
  type Row = Omit<EnvironmentRow, 'migration' | 'needsMigration'> & { migrations: string[] };
  const { migrations, ...row } = onlyRow(await database.query<Row>(statement, [gidNamespace]));
  const needed = migrations.flatMap((name) => neededMigration(name) ?? []).toSorted();
  return { ...row, migration: migrations.at(-1) ?? '', needsMigration: needed.at(-1) ?? null };
}

/** The pins, and the use of versions, in one snapshot. */
export async function selectVersionUse(database: Database, gidNamespace: string): Promise<VersionUse> {
  const statement = { name: 'version-use', text: `select ${list(pins)} as pins, ${list(uses)} as uses` };
  return onlyRow(await database.query<VersionUse>(statement, [gidNamespace]));
}
