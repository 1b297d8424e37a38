import { type GidContext, interfaceNamesOf, ofService, roleOf } from '@deedwire/core';
import { rolePrefix } from '../migrations/group-roles.ts';
import { findNeededMigration } from '../migrations/pending-migrations.ts';
import { readMigrations } from '../migrations/read-migrations.ts';
import { type Database, onlyRow, sql } from '../statements/database.ts';
import { exportedLists, exportedRows, isName, pins, uses } from './environment-rows.ts';

const list = (query: string) => `(select coalesce(json_agg(l), '[]') from (${query}) l)`;

/** So many events and deliveries that wait are looked at: reading them takes less than 0.2 s. */
const eventsMax = 10_000;
const deliveriesMax = 100_000;
/** Types, and versions of them. */
const queuedMax = 2_000;

/** Of an app. A build has about 300 kB. */
const contractsMaxBytes = 3_000_000;

const interfaceApps = ofService((service) =>
  interfaceNamesOf(service)
    .map((name) => `('${name}-api', '${roleOf(name)}')`)
    .join(', '),
);

const leftOut = ofService((service) =>
  [
    ...exportedLists(service).map(
      ({ name, maxBytes }) => `
          select app, count(*) || ' rows of ${name} ' || case when is_valid then 'exceed ${maxBytes} bytes' else 'are malformed' end as reason
          from ${name}
          where not is_exported
          group by app, is_valid`,
    ),
    `
          select app, count(*) || ' periods count coordinates that are not stored' from use_counting where coordinates_id is null group by app`,
    `
          select interface || '-api', count(*) || ' queued events have a malformed type' from waiting_event where not is_valid group by interface`,
    `
          select interface || '-api', count(*) || ' waiting deliveries have a malformed type' from waiting_delivery where not is_valid group by interface`,
    `
          select app, count(*) || ' builds exceed ${contractsMaxBytes} bytes' from build where not is_exported group by app`,
  ].join(' union all'),
);

/** The contracts of a build as they are stored. */
export interface StoredContracts {
  app: string;
  digest: string;
  text: string;
}

/** An app about which the export does not say everything. */
export interface IncompleteApp {
  app: string;
  reason: string;
}

/**
 * What runs, what is pinned and what is used, in one snapshot, as `contract-check` reads it. Reads `interface_use` as a whole, and the
 * start of the tables of events and deliveries that wait.
 *
 * @param rollbacks builds without a process whose contracts are read, too: `customer-api@1.4.0`
 */
export async function selectEnvironment(
  database: Database,
  { gidNamespace, service }: GidContext,
  rollbacks: readonly string[],
) {
  const lists = exportedLists(service);
  const statement = sql('environment')`
      with registered as materialized (
        select app, case when ${isName('version')} then version else 'unknown' end as version,
          case when ${isName('version')} then digest end as digest, started_at as "startedAt", last_seen_at as "lastSeenAt"
        from app_process p
        where last_seen_at > now() - case when app = 'operator-cli'
          -- After an outage, it may not have reached the database yet. No other app says that it has ended.
          or not exists (
            select from app_process o
            where o.app = p.app and o.seen_since < now() - interval '3 minutes'
              and o.last_seen_at between now() - interval '90 seconds' and now() + interval '1 second'
          )
          then interval '24 hours' else '3 minutes' end
      ), unregistered as (
        select distinct i.app
        from pg_stat_activity s
        -- Every login can choose the name of its session: it is the app only with a right to be it.
        join (
          select app, r.oid as group_role
          from (values ${interfaceApps(service)}) as known (app, role)
          cross join (select ${rolePrefix} as prefix) as own
          -- One to which the migrations have granted something, and not a role of the name that belongs to another database.
          join pg_roles r on r.rolname = prefix || role and exists (
            select from pg_class c, aclexplode(c.relacl) a where c.oid = 'schema_migration'::regclass and a.grantee = r.oid
          )
        ) as i
          on s.application_name = 'deedwire-' || i.app || '-costs' and pg_has_role(s.usesysid, i.group_role, 'member')
          -- A login of the owner of the tables, which cannot register.
          or s.application_name = 'deedwire-' || i.app and not pg_has_role(s.usesysid, i.group_role, 'member')
            and pg_has_role(s.usesysid, (select relowner from pg_class where oid = 'app_process'::regclass), 'member')
        where s.datname = current_database()
        union all
        select 'webhook-worker'
        -- One that was killed is in both for 3 minutes, so that it hides no other.
        where (select count(*) from webhook_worker where leased_until > now() - interval '3 minutes')
          > (select count(*) from registered where app = 'webhook-worker' and "lastSeenAt" > now() - interval '3 minutes')
      ), build as materialized (
        select app, digest, contracts, sum(octet_length(contracts)) over (partition by app order by digest) <= ${contractsMaxBytes} as is_exported
        from app_contracts c
        where exists (select from registered r where r.app = c.app and r.digest = c.digest)
          or cardinality($2::text[]) > 0 and c.app || '@' || (c.contracts::jsonb ->> 'version') = any ($2)
      ), waiting_event as materialized (
        select e.event_type, e.interface, ${isName('e.event_type')} as is_valid
        from (select event_id from webhook_event_queue where event_id is not null limit ${eventsMax}) q
        cross join lateral (select event_type, interface from webhook_event where id = q.event_id offset 0) e
      ), waiting_delivery as materialized (
        select event_type, event_version, interface, ${isName('event_type')} and ${isName('event_version')} as is_valid
        from webhook_pending_delivery
        limit ${deliveriesMax}
      ), queued as materialized (
        select event_type as type, null as event, count(*) as count
        from waiting_event
        where is_valid
        group by event_type
        union all
        select event_type, event_type || '@' || event_version, count(*)
        from waiting_delivery
        where is_valid
        group by event_type, event_version
        limit ${queuedMax} + 1
      ), ${lists.map(exportedRows).join(', ')}
      select installation_id as installation, cell, now() as "takenAt",
        (select array_agg(name order by name) from schema_migration) as migrations,
        ${list(`
          select * from registered
          union all
          select app, 'unknown', null, now(), now() from unregistered
          order by 1, 4`)} as processes,
        ${list('select app, digest, contracts as text from build where is_exported order by digest')} as contracts,
        ${list(`select * from queued order by 1, 2 limit ${queuedMax}`)} as queued,
        (select count(*) = ${eventsMax} from waiting_event) or (select count(*) = ${deliveriesMax} from waiting_delivery)
          or (select count(*) > ${queuedMax} from queued) as "isQueueCut",
        ${lists
          .map(
            ({ name }) =>
              `(select coalesce(json_agg(row::json order by row), '[]') from ${name} where is_exported) as ${name}`,
          )
          .join(', ')},
        (
          select coalesce(json_object_agg(id, coordinates), '{}')
          from counted_coordinates c
          where exists (select from use_counting u where u.coordinates_id = c.id)
        ) as "coordinateSets",
        ${list(`select * from (${leftOut(service)}) l order by app, reason`)} as incomplete
      from installation`;
  const read = await database.query<
    Record<string, unknown> & { migrations: string[]; contracts: StoredContracts[]; incomplete: IncompleteApp[] }
  >(statement, [gidNamespace, rollbacks]);
  const { migrations, contracts, incomplete, ...row } = onlyRow(read);
  const found: Record<string, unknown> = {
    ...row,
    migration: migrations.at(-1) ?? '',
    needsMigration: findNeededMigration(await readMigrations(), migrations),
  };
  return { lists: found, contracts, incomplete };
}

/** The builds whose contracts are stored: `customer-api@1.4.0`. */
export async function selectStoredBuilds(database: Database): Promise<string[]> {
  const statement = sql('stored-builds')`
      select distinct app || '@' || version as build
      from app_contracts
      cross join left(contracts::jsonb ->> 'version', 100) as version
      where ${isName('version')}
      order by build`;
  return (await database.query<{ build: string }>(statement, [])).map(({ build }) => build);
}

/** A client or subscription that pins or uses a version that ends. */
export interface EndingUse {
  /** The client, or the global identifier of a subscription or listener. */
  id: string;
  account: string;
  /** `customer@2026-11-01` or `order.placed@2026-11-01`. */
  version: string;
  sunsetOn: string;
  isPinned: boolean;
  /** `YYYY-MM-DD`. Null for events, and for a version that the client has not used in the last 400 days. */
  lastUsedOn: string | null;
}

/** @param sunsets the day of each version that ends */
export async function selectEndingUse(
  database: Database,
  { gidNamespace, service }: GidContext,
  sunsets: ReadonlyMap<string, string>,
): Promise<EndingUse[]> {
  const statement = sql('ending-use')`
      select id, account, version, sunset as "sunsetOn", bool_or("isPinned") as "isPinned", max(day)::text as "lastUsedOn"
      from (
        select id, account, coalesce(event, interface || '@' || version) as version, true as "isPinned", null::date as day
        from (${pins(service)}) p
        union all
        select client, account, interface || '@' || version, false, "lastDay" from (${uses(service)}) u where coordinate is null
      ) used
      join unnest($2::text[], $3::text[]) as ending (version, sunset) using (version)
      group by id, account, version, sunset
      order by sunset, id`;
  return database.query<EndingUse>(statement, [gidNamespace, [...sunsets.keys()], [...sunsets.values()]]);
}
