import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { createFirmDatabase } from './support/database.ts';

// What the database of the platform says of its sample. Read from the catalog, because migrations edit functions by `replace`.

const database = await forFile(createFirmDatabase());
const owner = await forFile(connect(database.databaseUrl));

/**
 * How often each object contains each name of the sample. The tables and sequences with such a name, and what belongs to them, are the
 * sample's. A policy of the role of an interface names this interface, and guard_audit_entries() writes the names of all into a trigger.
 */
const sampleNames = `
  with sample (name, pattern) as (
    values ('lender', 'lender'), ('partner', 'partner'), ('referral', 'referral'), ('matter', 'matter'),
      ('team_member', 'team_?member')
  ), relation as (
    select oid, relname, relkind
    from pg_class c
    where relnamespace = 'public'::regnamespace and not relispartition
      and not exists (select from sample where c.relname ~ pattern)
  ), definition as (
    select 'function' as kind, proname as object, pg_get_functiondef(oid) as text
    from pg_proc where pronamespace = 'public'::regnamespace
    union all
    select 'view', relname, pg_get_viewdef(oid) from relation where relkind in ('v', 'm')
    union all
    select 'column', relname, attname from relation join pg_attribute on attrelid = oid where relkind in ('r', 'p', 'v', 'm')
    union all
    select 'default', relname, pg_get_expr(adbin, adrelid) from relation r join pg_attrdef on adrelid = r.oid
    union all
    select 'constraint', relname || '.' || conname, pg_get_constraintdef(c.oid) from relation r join pg_constraint c on conrelid = r.oid
    union all
    select 'index', i.relname, pg_get_indexdef(indexrelid)
    from relation r join pg_index on indrelid = r.oid join pg_class i on i.oid = indexrelid
    union all
    select 'trigger', relname || '.' || tgname,
      replace(pg_get_triggerdef(t.oid), (select string_agg(replace(name::text, '-', '_'), '|' order by name) from interface), '')
    from relation r join pg_trigger t on tgrelid = r.oid and not tgisinternal
    union all
    select 'policy', relname || '.' || p.polname,
      replace(replace(concat_ws(' ', p.polname, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)),
        coalesce(role_of_interface(i.name), ''), ''), coalesce(quote_literal(i.name), ''), '')
    from relation r
    join pg_policy p on polrelid = r.oid
    left join interface i on polroles = array[to_regrole(role_of_interface(i.name))::oid]
  ), found as (
    select kind, object, name, count(*) as count
    from definition, sample, regexp_matches(text, pattern, 'gi')
    group by kind, object, name
  )
  select format('%s %s: %s', kind, object, string_agg(format('%s %s', name, count), ', ' order by name)) as named
  from found
  group by kind, object
  order by kind, object`;

test('no object of the platform names the sample', async () => {
  const found = await owner.run(sampleNames);
  expect(found.map(({ named }) => named)).toEqual([]);
});
