import { commandNames, interfaceNamesOf, type Service } from '@deedwire/core';
import { type Database, sql } from '../statements/database.ts';
import { findApplicationProblems } from './compare-migrations.ts';
import { describeService } from './describe-service.ts';

const kinds = ['interface', 'event', 'action', 'persons', 'column', 'account', 'table', 'sequence'] as const;

/** What each kind needs. */
const remedies: Readonly<Record<(typeof kinds)[number], (names: string) => string>> = {
  interface: (names) =>
    `the database lacks the interfaces ${names} with the types of their accounts; run: ${commandNames().migrate}`,
  event: (names) => `the database does not know all of the events ${names}; run: ${commandNames().migrate}`,
  action: (names) => `the database does not know all of the audit actions ${names}; run: ${commandNames().migrate}`,
  persons: (names) =>
    `the database does not know all that identifies persons in ${names}; run: ${commandNames().migrate}`,
  column: (names) =>
    `person erase cannot replace ${names}: its type and its constraints must allow null, or erased-<id> (of an address, erased-<id>@erased.invalid)`,
  account: (names) =>
    `own_table() has registered ${names} for another interface than that of the events of their persons`,
  table: (names) => `own_table() has not registered ${names}, or the table was created again; call it in a migration`,
  sequence: (names) => `own_sequence() has not registered ${names}, or its column is gone; call it in a migration`,
};

/**
 * Compares a service with what a migrated database knows of it: without that, rows stay after a split or an erasure, and row-level security
 * does not apply. What the database knows of other releases does not count. One sentence each, without the period.
 */
export async function findUnregistered(database: Database, service: Service): Promise<string[]> {
  const ofApplication = await findApplicationProblems(database, service);
  if (ofApplication.length > 0) return ofApplication;
  const statement = sql('find-unregistered')`
      select 'interface' as kind, s.name
      from jsonb_to_recordset($1::jsonb -> 'interfaces') as s (name text, account_type text)
      where not exists (select from interface i where i.name::text = s.name and i.account_type = s.account_type)
      union all
      select 'event', s.type
      from jsonb_to_recordset($1::jsonb -> 'events')
        as s (type text, interfaces text[], record_type text, persons text[], addresses text[])
      where not exists (
        select
        from event_type e
        where e.type = s.type and e.interfaces::text[] @> s.interfaces and e.persons @> s.persons and e.addresses @> s.addresses
          and (s.record_type is null or e.record_type = s.record_type)
      )
      union all
      select 'table', s.name
      from jsonb_array_elements_text($1::jsonb -> 'tables') as s (name)
      where not exists (
        select
        from own_table o
        join pg_class c on c.oid = to_regclass(quote_ident(o.relation)) and c.relkind = 'r' and not c.relispartition and c.relrowsecurity
        join pg_trigger t on t.tgrelid = c.oid and t.tgname in ('check_home', 'check_home_of_deleted') and t.tgenabled in ('O', 'A')
        where o.relation = s.name
        having count(*) = 2
      )
      union all
      select 'sequence', s.name
      from jsonb_array_elements_text($1::jsonb -> 'sequences') as s (name)
      where not exists (
        select
        from own_sequence o
        join pg_attribute a on a.attrelid = to_regclass(quote_ident(o.relation)) and a.attname = o.column_name and not a.attisdropped
        where o.sequence = s.name and to_regclass(quote_ident(o.sequence)) is not null
      )
      union all
      select 'persons', s.relation
      from jsonb_to_recordset($1::jsonb -> 'persons')
        as s (relation text, record_type text, columns text[], addresses text[], known_by text[])
      where not exists (
        select
        from person_table p
        where p.relation = s.relation and p.record_type = s.record_type and p.columns @> s.columns and p.addresses @> s.addresses
          and p.known_by @> s.known_by
      )
      union all
      select 'column', s.relation || '.' || c.name
      from jsonb_to_recordset($1::jsonb -> 'persons') as s (relation text, columns text[], addresses text[])
      -- What an earlier release has registered is replaced too.
      left join person_table p using (relation)
      cross join unnest(s.columns) as c (name)
      where to_regclass(quote_ident(s.relation)) is not null and c.name not in (
        select r.column_name from placeholders_of(s.relation, s.columns || p.columns, s.addresses || p.addresses) r
      )
      union all
      select 'action', s.action
      from jsonb_to_recordset($1::jsonb -> 'actions') as s (action text, of_operators boolean, removes boolean)
      where not exists (
        select
        from audit_action a
        where a.action = s.action and (s.of_operators or not a.of_operators) and (a.removes or not s.removes)
      )
      union all
      select 'account', s.relation
      from jsonb_to_recordset($1::jsonb -> 'persons') as s (relation text, record_type text)
      join own_table o on o.relation = s.relation
      join jsonb_to_recordset($1::jsonb -> 'events') as e (interfaces text[], record_type text, persons text[])
        on e.record_type = s.record_type and e.persons <> '{}'
      where not o.of_interface::text = any (e.interfaces)
      group by s.relation`;
  const rows = await database.query<{ kind: (typeof kinds)[number]; name: string }>(statement, [
    JSON.stringify(describeService(service)),
  ]);
  return kinds.flatMap((kind) => {
    const names = rows.filter((row) => row.kind === kind).map(({ name }) => name);
    return names.length > 0 ? [remedies[kind](names.toSorted().join(', '))] : [];
  });
}

/**
 * The tables and sequences of interfaces of the service that a migration has registered and the service does not list, or only a later release
 * of it: an id of such a table that repeats is an error, and no command draws numbers of such a sequence. One sentence each, without the period.
 */
export async function findUnlisted(database: Database, service: Service): Promise<string[]> {
  const statement = sql('find-unlisted')`
      with own as (
        select relation from own_table where of_interface::text = any ($3::text[]) and to_regclass(quote_ident(relation)) is not null
      )
      select 'own_table()' as by, 'tables' as list, relation as name
      from own
      where relation <> all ($1::text[])
      union all
      select 'own_sequence()', 'sequences', s.sequence
      from own_sequence s
      join own using (relation)
      where s.sequence <> all ($2::text[]) and to_regclass(quote_ident(s.sequence)) is not null
      order by 1, 3`;
  const rows = await database.query<Record<'by' | 'list' | 'name', string>>(statement, [
    service.tables,
    Object.keys(service.sequences),
    interfaceNamesOf(service),
  ]);
  return rows.map(
    ({ by, list, name }) => `${by} has registered ${name}, which \`${list}\` of the service does not list; add it`,
  );
}
