import { escapeIdentifier } from 'pg';
import { selectLoginPlace } from '../migrations/rights.ts';
import { type Database, sql } from '../statements/database.ts';

/** What apps start with, although it puts rows or webhooks at risk. */
export interface DatabaseRisk {
  /** A setting of PostgreSQL, for example `fsync`, or `certificate`, `collation` or `publication`. */
  subject: string;
  /** What was found, what can happen, and the remedy if it is a statement. One sentence without a period. */
  description: string;
}

/** Empty if there are none. */
export async function findDatabaseRisks(database: Database): Promise<DatabaseRisk[]> {
  return [
    ...(await findLosses(database)),
    ...(await findChangedCollations(database)),
    ...(await findRefusingPublications(database)),
  ];
}

/** As the alert `DeedwireDatabaseCertificateEnding`. */
const certificateDays = 14;
const dayMs = 86_400_000;

/** @param endsAt of the certificate that the server has presented. Null without TLS */
export function findCertificateRisk(endsAt: Date | null, now: Date): DatabaseRisk[] {
  const days = endsAt === null ? Infinity : (endsAt.getTime() - now.getTime()) / dayMs;
  if (endsAt === null || days >= certificateDays) return [];
  const time = endsAt.toISOString();
  const end =
    days < 0
      ? `ended at ${time}, so that no app that verifies it can connect`
      : `ends at ${time}, in ${Math.floor(days)} days, after which no app that verifies it can connect`;
  const description = `the certificate of PostgreSQL ${end}; renew it, and run on the server: select pg_reload_conf()`;
  return [{ subject: 'certificate', description }];
}

/** The settings with which changes that were acknowledged can be lost in a crash or a failover. */
function findLosses(database: Database): Promise<DatabaseRisk[]> {
  // Not the value of this session, which the store may have changed.
  const statement = sql('find-losses')`
      select name as subject, format('PostgreSQL has %s=%s: ', name, reset_val) ||
        case name
          when 'fsync' then 'a crash of its machine loses acknowledged changes and can damage the database'
          when 'full_page_writes' then 'a crash of its machine can damage the database, unless its file system writes whole pages'
          else case reset_val
            when 'off' then 'a crash of the server loses changes that it has acknowledged; transactions of the apps set it to on'
            else 'a failover loses changes that no standby has confirmed'
          end
        end as description
      from pg_settings
      where name in ('fsync', 'full_page_writes', 'synchronous_commit') and reset_val = 'off'
        or name = 'synchronous_commit' and reset_val = 'local' and current_setting('synchronous_standby_names') <> ''
      order by name`;
  return database.query<DatabaseRisk & Record<string, unknown>>(statement, []);
}

/** A collation of indexes, whose library has another version than when they were built. */
export interface ChangedCollation {
  /** As SQL takes it. Null for that of the database. */
  name: string | null;
  /** The version with which the indexes were built. */
  stored: string;
  /** That of the library of this server. */
  actual: string;
}

export function selectChangedCollations(database: Database): Promise<ChangedCollation[]> {
  const statement = sql('find-changed-collations')`
      with used as (
        select null as name, datcollversion as stored, pg_database_collation_actual_version(oid) as actual
        from pg_database
        where datname = current_database()
        union all
        select c.oid::regcollation::text, c.collversion, pg_collation_actual_version(c.oid)
        from pg_collation c
        where c.oid in (
          select unnest(i.indcollation::oid[])
          from pg_index i join pg_class t on t.oid = i.indrelid
          where t.relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migration'))
        )
      )
      select name, stored, actual
      from used
      where stored <> actual
      order by name nulls first`;
  return database.query<ChangedCollation & Record<string, unknown>>(statement, []);
}

async function findChangedCollations(database: Database): Promise<DatabaseRisk[]> {
  const changed = await selectChangedCollations(database);
  if (changed.length === 0) return [];
  const { database: databaseName, schema } = await selectLoginPlace(database);
  const own = escapeIdentifier(databaseName);
  return changed.map(({ name, stored, actual }) => ({
    subject: 'collation',
    description:
      `the library of the server has version ${actual} of the collation ${name ?? `of the database ${own}`}, but indexes were built ` +
      `with version ${stored}, so that they can miss rows and accept duplicates; ` +
      // In another schema, the database may be an application's, which has indexes, too.
      (schema === 'public'
        ? `run: reindex database concurrently ${own}; ` +
          (name === null
            ? `alter database ${own} refresh collation version`
            : `alter collation ${name} refresh version`)
        : `run: reindex schema concurrently ${escapeIdentifier(schema)}; after the indexes of all schemas, refresh the version of the collation`),
  }));
}

/**
 * The publications because of which PostgreSQL refuses to update or delete rows: the columns that identify a row are none, not all
 * published, or not all that a row filter reads. A publication of a partitioned table is one of its partitions, which have their own
 * identities.
 */
async function findRefusingPublications(database: Database): Promise<DatabaseRisk[]> {
  const any = sql('find-publications')`select from pg_publication where pubupdate or pubdelete limit 1`;
  if ((await database.query(any, [])).length === 0) return [];
  // Planned so that PostgreSQL does not compile it, which can take a second.
  const statement = sql('find-refusing-publications', 'in-index-order')`
      with published as (
        select p.pubname, c.oid, t.attnames, identity.columns as identity, filter.columns as filter
        from pg_publication p
        join pg_publication_tables t on t.pubname = p.pubname
        join pg_namespace n on n.nspname = t.schemaname
        join pg_class root on root.relnamespace = n.oid and root.relname = t.tablename
        left join lateral pg_partition_tree(root.oid) part on part.isleaf
        join pg_class c on c.oid = coalesce(part.relid, root.oid)
        cross join lateral (
          select coalesce(array_agg(a.attname), '{}') as columns
          from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and (c.relreplident = 'f' or exists (
            select from pg_index i
            where i.indrelid = c.oid and a.attnum = any (i.indkey)
              and case c.relreplident when 'd' then i.indisprimary when 'i' then i.indisreplident end
          ))
        ) identity
        -- A publication depends on the columns of its filters, but also on those of its lists.
        cross join lateral (
          select coalesce(array_agg(a.attname), '{}') as columns
          from pg_publication_rel r
          join pg_depend d on d.classid = 'pg_publication_rel'::regclass and d.objid = r.oid and d.refobjid = r.prrelid
          join pg_attribute a on a.attrelid = r.prrelid and a.attnum = d.refobjsubid
          where r.prpubid = p.oid and r.prrelid = root.oid and t.rowfilter ~ format('[[:<:]]%s[[:>:]]', a.attname)
        ) filter
        where (p.pubupdate or p.pubdelete) and n.oid = (select relnamespace from pg_class where oid = to_regclass('schema_migration'))
      ),
      refused as (
        select distinct pubname, oid::regclass::text as name
        from published
        where identity = '{}' or not identity <@ attnames or not filter <@ identity
      )
      select 'publication' as subject,
        format(
          'the publication %1$I keeps PostgreSQL from updating and deleting rows of %2$s, because their replica identities are missing, not published, or lack columns of a row filter; run: alter publication %1$I set (publish = %3$L), or publish all columns and rows of tables with the replica identities that the migrations gave them',
          pubname, string_agg(name, ', ' order by name), 'insert'
        ) as description
      from refused
      group by pubname
      order by pubname`;
  return database.query<DatabaseRisk & Record<string, unknown>>(statement, []);
}
