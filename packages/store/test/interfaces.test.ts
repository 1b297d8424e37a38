import { interfaceNames as known } from '@deedwire/core/test-service';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection, missing } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createPlatformDatabase, createServiceDatabase } from './support/database.ts';

// Compares what the roles of all interfaces may do, object by object, so that a later table cannot forget one.

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));

/**
 * What the role of each interface may do, with the names of both replaced. An interface has its own records in tables whose rows have
 * only its name, and in those that refer to such a table.
 */
const allowed = `
  with recursive interfaces as (
    select name::text as name, role_of_interface(name) as role from interface
  ), own as (
    select conrelid as relation
    from pg_constraint
    where contype = 'c' and pg_get_constraintdef(oid) ~ '^CHECK \\(\\(interface = ''[a-z-]+''::interface_name\\)\\)$'
    union
    select f.conrelid from own join pg_constraint f on f.contype = 'f' and f.confrelid = own.relation
  ), relations as (
    select oid, oid::regclass::text as object, relkind
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'S') and oid not in (select relation from own)
  ), allowed as (
    select i.name, object, privilege
    from interfaces i, relations, unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) as privilege
    where relkind <> 'S' and has_table_privilege(role, oid, privilege)
    union all
    select i.name, object || '.' || attname, privilege
    from interfaces i, unnest(array['select', 'insert', 'update', 'references']) as privilege, relations
    join pg_attribute on attrelid = oid and attnum > 0 and not attisdropped
    where relkind <> 'S' and has_column_privilege(role, oid, attnum, privilege)
    union all
    select i.name, object, privilege
    from interfaces i, relations, unnest(array['usage', 'select', 'update']) as privilege
    where relkind = 'S' and has_sequence_privilege(role, oid, privilege)
    union all
    select i.name, oid::regprocedure::text, 'execute'
    from interfaces i, pg_proc
    where pronamespace = 'public'::regnamespace and has_function_privilege(role, oid, 'execute')
    union all
    select i.name, 'schema public', privilege
    from interfaces i, unnest(array['usage', 'create']) as privilege
    where has_schema_privilege(role, 'public', privilege)
    union all
    select i.name, object, concat_ws(' ', replace(policyname, role, '<role>'), permissive, cmd,
      'using', replace(qual, quote_literal(i.name), '<name>'), 'check', replace(with_check, quote_literal(i.name), '<name>'))
    from interfaces i join pg_policies on roles @> array[role::name] join relations on object = tablename
  )`;

/** What the role of an interface may do and that of another may not. */
const differences = `${allowed}
  select object, privilege, array_agg(name order by name) as of
  from allowed
  group by object, privilege
  having count(*) < (select count(*) from interfaces)
  order by object, privilege`;

test('every interface may do the same on each shared table, sequence and routine', async () => {
  expect(await superuser.run(differences)).toEqual([]);
});

async function addSpareDesk(create = createServiceDatabase): Promise<{ own: TestDatabase; owner: Connection }> {
  const own = await create();
  const owner = await connect(own.databaseUrl);
  onTestFinished(async () => {
    await owner.run('drop owned by spare_desk_api');
    await owner.close();
    await own.drop();
    await superuser.run('drop role spare_desk_api');
  });
  await owner.run(`alter type interface_name add value 'spare-desk'`);
  await owner.run(`select add_interface('spare-desk', 'SpareDesk')`);
  return { own, owner };
}

test('the first interface gets what every interface has, without another to copy from', async () => {
  const [{ tables } = missing()] = await superuser.run(`select string_agg(relation, ', ') as tables from own_table`);
  const { own, owner } = await addSpareDesk(createPlatformDatabase);
  const ofRole = `${allowed} select object, privilege from allowed where name = $1 order by object, privilege`;
  const granted = await owner.run(ofRole, ['spare-desk']);
  expect(granted).toEqual(await superuser.run(ofRole, ['supplier']));
  expect(granted.length).toBeGreaterThan(400);
  const triggers = `
    select tgrelid::regclass::text as relation, replace(pg_get_triggerdef(oid), (
        select string_agg(replace(name::text, '-', '_'), '|' order by name) from interface), '<names>') as trigger
    from pg_trigger
    where not tgisinternal and tgrelid::regclass::text <> all (string_to_array($1, ', '))
    order by 1, 2`;
  expect(await owner.run(triggers, [tables])).toEqual(await superuser.run(triggers, [tables]));

  const [account] = await owner.run(`
    with organization as (insert into organization (name) values ('Test') returning id)
    insert into account (interface, organization_id, name) select 'spare-desk', id, 'Test' from organization returning id`);
  await owner.run('insert into account_home (account_id, cell, frozen_at) values ($1, 0, next_freeze())', [
    account?.['id'],
  ]);
  const login = await forTest(connect(await own.urlFor('spare_desk_api')));
  await expect(
    login.run(
      `insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until)
       values ($1, 'spare-desk', 'm', 'k', '', gen_random_uuid(), now())`,
      [account?.['id']],
    ),
  ).rejects.toThrow('is frozen');
});

test.each(['a_b', 'Desk', 'desk-', 'desk2', 'pg-desk', `${'desk-'.repeat(6)}desk`])(
  'an interface with the name %s is refused, whose role could be that of another one',
  async (name) => {
    const own = await forTest(createServiceDatabase());
    const owner = await forTest(connect(own.databaseUrl));
    await owner.run(`alter type interface_name add value '${name}'`);
    await expect(owner.run(`select add_interface('${name}', 'SpareDesk')`)).rejects.toThrow(
      `The name of the interface ${name} must consist of lowercase words with hyphens between them`,
    );
  },
);

test('a role that is no group role does not become that of an interface', async () => {
  const own = await forTest(createServiceDatabase());
  const owner = await forTest(connect(own.databaseUrl));
  await owner.run(`alter type interface_name add value 'other-desk'`);
  onTestFinished(async () => {
    await superuser.run('drop role other_desk_api');
  });
  await owner.run('create role other_desk_api');
  for (const [attribute, none] of [
    ['login', 'nologin'],
    ['superuser', 'nosuperuser'],
    ['bypassrls', 'nobypassrls'],
    ['createrole', 'nocreaterole'],
  ]) {
    await owner.run(`alter role other_desk_api ${attribute}`);
    await expect(owner.run(`select add_interface('other-desk', 'OtherDesk')`)).rejects.toThrow(
      'The role other_desk_api exists and is no group role of the interface other-desk',
    );
    await owner.run(`alter role other_desk_api ${none}`);
  }
  expect(await owner.run(`select from interface where name = 'other-desk'`)).toEqual([]);
});

test('says which logins a role had before it became that of an interface, once', async () => {
  const own = await forTest(createServiceDatabase());
  const owner = new Client({ connectionString: own.databaseUrl });
  await owner.connect();
  const warnings: unknown[] = [];
  owner.on('notice', ({ message }) => warnings.push(message));
  onTestFinished(async () => {
    await owner.query('drop owned by third_desk_api; drop role stranger, third_desk_api');
    await owner.end();
  });
  await owner.query(`alter type interface_name add value 'third-desk'`);
  await owner.query('create role third_desk_api; create role stranger login in role third_desk_api');
  for (let calls = 0; calls < 2; calls += 1) await owner.query(`select add_interface('third-desk', 'ThirdDesk')`);
  expect(warnings).toEqual([
    'The role third_desk_api existed before, with the logins stranger. They can do all that the interface third-desk can in this database, too, unless you revoke their right to connect.',
  ]);
});

test('a new interface may do what every other one may, and reads only its own rows', async () => {
  const { own, owner } = await addSpareDesk();
  expect(await owner.run(differences)).toEqual([]);
  expect(
    await owner.run(`select tablename from pg_policies where roles @> '{spare_desk_api}'
      and tablename in (select 'account' union all select relation from own_table)`),
  ).toEqual([{ tablename: 'account' }]);

  // A later migration changes what every interface may do.
  await owner.run(`
    create table later (id int, interface interface_name);
    alter table later enable row level security;
    delete from shared_right where words = 'delete on idempotency_key';
    insert into shared_right values ('select on later');
    insert into shared_policy values ('later', '{role}', 'for select to {role} using (interface = {interface})');
    select grant_shared_rights(name) from interface`);
  expect(await owner.run(differences)).toEqual([]);
  expect(
    await owner.run(
      `select has_table_privilege('spare_desk_api', 'later', 'select') as later,
         has_table_privilege('supplier_api', 'idempotency_key', 'delete') as removed`,
    ),
  ).toEqual([{ later: true, removed: false }]);

  const ids = await owner.run(`
    with organization as (insert into organization (name) values ('Test') returning id)
    insert into account (interface, organization_id, name)
    select i.name, o.id, i.name::text from organization o, interface i returning id, name`);
  const idOf = (name: string) => ids.find((row) => row['name'] === name)?.['id'];
  const login = await connect(await own.urlFor('spare_desk_api'));
  onTestFinished(() => login.close());
  expect(await login.run('select name from account')).toEqual([{ name: 'spare-desk' }]);
  const keep = (name: string) =>
    login.run(
      `insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until)
       values ($1, $2, 'm', 'k', '', gen_random_uuid(), now())`,
      [idOf(name), name],
    );
  for (const name of known) await expect(keep(name)).rejects.toThrow('violates row-level security policy');
  await keep('spare-desk');
  await expect(login.run('select * from customer_order')).rejects.toThrow('permission denied');
  await expect(login.run(`select add_interface('supplier', 'Supplier')`)).rejects.toThrow('permission denied');

  // The triggers and functions of all interfaces know it.
  expect(await owner.run(`select action, subject from audit_entry where interface = 'spare-desk'`)).toEqual([
    { action: 'spare_desk.create', subject: `SpareDesk/${String(idOf('spare-desk'))}` },
  ]);
  await login.run(
    `insert into audit_entry (actor_type, actor, action, subject, account_id, interface)
     values ('CLIENT', 'c', 'spare_desk.update', 's', $1, 'spare-desk')`,
    [idOf('spare-desk')],
  );
  expect(await owner.run(`select from audit_entry where actor = 'c'`)).toEqual([]);
  const register = (app: string) => login.run(`select register_process($1, gen_random_uuid(), '1.0.0', null)`, [app]);
  await register('spare-desk-api');
  expect(await owner.run('select app, state from use_counting')).toEqual([{ app: 'spare-desk-api', state: 'OPEN' }]);
  await expect(register('supplier-api')).rejects.toThrow('it is a login of spare-desk-api');
});
