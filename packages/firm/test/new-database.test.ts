import { createServiceDatabase } from '@deedwire/store/test-support';
import { connect } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

test('a new database of another service has no object that names the law firm', async () => {
  const database = await forTest(createServiceDatabase());
  const owner = await forTest(connect(database.databaseUrl));
  const named = await owner.run(`
    with own as (select oid, relname from pg_class where relnamespace = 'public'::regnamespace), named (object, text) as (
      -- As names, the others would end after 63 letters.
      select 'enum'::text, enumlabel::text from pg_enum
      union all select relname, relname from own
      union all select relname, attname from own join pg_attribute on attrelid = own.oid
      union all select relname, pg_get_expr(adbin, adrelid) from own join pg_attrdef on adrelid = own.oid
      union all select relname, pg_get_constraintdef(c.oid) from own join pg_constraint c on conrelid = own.oid
      union all select relname, pg_get_triggerdef(t.oid) from own join pg_trigger t on tgrelid = own.oid
      union all select relname, concat_ws(' ', polname, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
        from own join pg_policy on polrelid = own.oid
      union all select relname, (aclexplode(relacl)).grantee::regrole::text from pg_class where relnamespace = 'public'::regnamespace
      union all select proname, concat_ws(' ', proname, prosrc, pg_get_function_sqlbody(oid), proacl) from pg_proc where pronamespace = 'public'::regnamespace
      union all select 'event_type', e::text from event_type e
      union all select 'person_table', p::text from person_table p
      union all select 'audit_action', a::text from audit_action a
      union all select 'own_table', o::text from own_table o
      union all select 'shared_policy', s::text from shared_policy s
      union all select 'shared_right', words from shared_right
    )
    select object, substring(text from '.{0,30}(?:lender|partner|referral|team_member|\\ymatter).{0,30}') as found
    from named
    where text ~ 'lender|partner|referral|team_member|\\ymatter'`);
  expect(named).toEqual([]);
});
