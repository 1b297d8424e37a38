import { withClient } from '@deedwire/embedded-postgres';
import { applyMigrations, readMigrations } from '@deedwire/store';
import { composeRights } from './compose-rights.ts';
import { composeSections } from './compose-sections.ts';
import { readSchema } from './read-schema.ts';
import { readSources } from './read-sources.ts';
import { heading } from './sql-text.ts';

/** The name of the baseline, which comes after all migrations that it replaces. */
export const baseline = '0110-baseline';

const head = `-- replaces all before it
-- What a new database of the platform begins with: all that the files before this one make, without the tables, the types of events and the
-- interfaces that they made for the law firm. A database that has some of these files continues with them, and never gets this one.
--
-- Generated from them by \`pnpm baseline\`. The texts between the quotes of functions are theirs, with their spaces: a later migration that
-- changes a part of a text finds it in every database. \`migrate\` writes the schema for the names in braces.

-- Texts of functions name what comes later.
set local check_function_bodies = off;

-- The names of the interfaces. \`migrate\` adds those of the service.
create type interface_name as enum ();
`;

const installation = `-- The migrator sets \`deedwire.cell\` and \`deedwire.role_prefix\`.
insert into installation (cell, id_seed, role_prefix)
select coalesce(nullif(current_setting('deedwire.cell', true), ''), '0')::smallint,
  ('x' || left(uuid, 8) || right(uuid, 8))::bit(64)::bigint, coalesce(current_setting('deedwire.role_prefix', true), '')
from (select gen_random_uuid()::text as uuid) as random;`;

const rolePrefix = `-- Holds the prefix of \`installation\` as a literal, so that PostgreSQL inlines it. Apps read it in the catalog, as a login of no group role can,
-- too.
do $do$
begin
  execute format('create function role_prefix() returns text language sql immutable return %L', (select role_prefix from installation));
end
$do$;`;

/** What the migrations made for the law firm. */
const removeSample = `
  do $$ begin
    execute (select 'drop owned by ' || string_agg(role_of_interface(name), ', ') from interface);
    execute (select format('drop table %s cascade', string_agg(quote_ident(relation), ', ')) from own_table);
    execute (select 'drop sequence ' || string_agg(quote_ident(sequence), ', ') from own_sequence);
  end $$;
  delete from own_sequence;
  delete from own_table;
  delete from event_type;
  delete from person_table;
  delete from audit_action;
  delete from interface`;

/**
 * Returns the text of the baseline.
 *
 * @param databaseUrl an empty database, in which the migrations are applied that it replaces
 */
export async function composeBaseline(databaseUrl: string): Promise<string> {
  const replaced = (await readMigrations()).filter(({ name }) => name < baseline);
  const files = replaced.map(({ sql }) => sql);
  await applyMigrations(databaseUrl, replaced, {});
  const rights = await withClient(databaseUrl, async (client) => {
    await client.query(removeSample);
    const shared = await client.query<{ words: string }>('select words from shared_right order by words collate "C"');
    const policies = await client.query<{ row: string }>(
      `select format('  (%L, %L, $$%s$$)', relation, name, words) as row from shared_policy order by relation, name`,
    );
    return { shared: shared.rows.map(({ words }) => words), policies: policies.rows.map(({ row }) => row) };
  });
  const schema = await readSchema(databaseUrl);
  const [newRecordId = ''] =
    files
      .join('\n')
      .match(/^do \$do\$\n(?:(?!\$do\$;).*\n)*?.*create or replace function new_record_id[^]*?^\$do\$;/m) ?? [];
  const sections = composeSections(schema, readSources(files), {
    role_prefix: rolePrefix,
    new_record_id: `${installation}\n\n${newRecordId.replace('create or replace function', 'create function')}`,
  });
  return [
    head,
    ...sections,
    ...heading('First rows'),
    'insert into webhook_retention default values;',
    'insert into webhook_shard (shard) select generate_series(0, 63);',
    '',
    '-- What every interface may do.',
    'insert into shared_right',
    `select unnest(string_to_array($$${rights.shared.join('\n')}$$, E'\\n'));`,
    '',
    'insert into shared_policy values',
    `${rights.policies.join(',\n')};`,
    '',
    ...heading('Row-level security and rights'),
    ...composeRights(schema),
    '',
    ...heading('Partitions'),
    '-- Enough to start with. The worker keeps 60 days ahead.',
    'call webhook_create_partitions(14);',
    'select maintain_audit_log(400);',
    '',
  ].join('\n');
}
