import { testService } from '@deedwire/core/test-service';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection, missing } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeAll, expect, test } from 'vitest';
import { applyMigrations, groupRolesOf, migrate, readMigrations } from '../src/index.ts';
import { selectEnvironment } from '../src/processes/environment.ts';
import { createServiceDatabase, withStore } from './support/database.ts';
import { problemsOf } from './support/rights.ts';

// The database of an owner without CREATEROLE, in a cluster where others have created the roles of the apps. The first migrations create
// them, so they are applied before the owner loses the right.

const roles = groupRolesOf(testService);

const withRoles = await forFile(createServiceDatabase());
const database = await forFile(createTestDatabase({ template: 'empty', prepare: async () => {} }));
const superuser = await forFile(connect(database.databaseUrl));
const name = new URL(database.databaseUrl).pathname.slice(1);
const owner = `${name}_owner`;
const ownerUrl = Object.assign(new URL(database.databaseUrl), { username: owner, password: 'p' }).href;
const prefix = `${name}_absent_`;

await forFile(
  superuser
    .run(`create role ${owner} login superuser password 'p'; alter database ${name} owner to ${owner}`)
    .then(() => ({
      async close() {
        await superuser.run(`reassign owned by ${owner} to current_user`);
        await superuser.run(`drop owned by ${owner}; drop role ${owner}`);
      },
    })),
);

const told: string[] = [];

beforeAll(async () => {
  const all = await readMigrations();
  await applyMigrations(
    ownerUrl,
    all.filter(({ name: migration }) => migration < '0105'),
    {},
  );
  const [{ created } = missing()] = await superuser.run(
    `select string_agg(distinct grantee::regrole::text, ', ') as created
     from pg_class, aclexplode(relacl)
     where relnamespace = 'public'::regnamespace and grantee not in (0, relowner)`,
  );
  await superuser.run(
    `create or replace function role_prefix() returns text language sql immutable return '${prefix}';
     drop owned by ${String(created)}; alter role ${owner} nosuperuser`,
  );
  await migrate(ownerUrl, testService, { onAbsentRoles: (consequences) => told.push(consequences) });
});

test('later migrations are applied, and say once what the database does not limit', async () => {
  expect(told).toEqual([
    `the database has no roles ${roles.map((role) => prefix + role).join(', ')}, so their apps log in as its owner: row-level security does not apply to them, a stolen login of one has all rights of the owner, and each can store contracts and register processes as any app. To have these limits, let a login with createrole create the database`,
  ]);
  expect(await superuser.run('select name::text from interface order by name')).toEqual(
    expect.arrayContaining([{ name: 'customer' }, { name: 'supplier' }]),
  );
  expect(await superuser.run('select relation from own_table where relation = $1', ['customer_order'])).toHaveLength(1);
  expect(
    await migrate(ownerUrl, testService, { onAbsentRoles: (consequences) => told.push(consequences) }),
  ).toMatchObject({
    applied: [],
    addedInterfaces: [],
  });
  expect(told).toEqual([told[0], told[0]]);
});

test('no role of the cluster has a right, and no policy names one', async () => {
  const granted = `
    with own as (select oid, relacl as acl from pg_class where relnamespace = 'public'::regnamespace
      union all select attrelid, attacl from pg_attribute join pg_class on pg_class.oid = attrelid where relnamespace = 'public'::regnamespace
      union all select oid, proacl from pg_proc where pronamespace = 'public'::regnamespace)
    select distinct grantee::regrole::text as role
    from own, aclexplode(acl)
    where grantee not in (0, '${owner}'::regrole)`;
  expect(await superuser.run(granted)).toEqual([]);
  expect(await superuser.run('select from pg_policy')).toEqual([]);
});

test.each(['with roles', 'without roles'])(
  'no login may call a function of the platform because every login may, %s',
  async (kind) => {
    const session = kind === 'with roles' ? await forTest(connect(withRoles.databaseUrl)) : superuser;
    const open = `
    select p.oid::regprocedure::text as function
    from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    where p.pronamespace = 'public'::regnamespace and a.grantee = 0`;
    expect(await session.run(open)).toEqual([]);
  },
);

test('the owner is the login of every app, and no other login is one', async () => {
  for (const role of roles) {
    expect(await problemsOf(ownerUrl, role)).toEqual([]);
    const url = await database.urlFor(role);
    expect(await problemsOf(url, role)).toEqual([
      `the database has no group role ${prefix}${role} for this app, which needs the login of the owner then, not ${new URL(url).username}`,
    ]);
  }
});

const setPrefix = (of: string) =>
  superuser.run(`create or replace function role_prefix() returns text language sql immutable return '${of}'`);

const later = (table: string) => ({
  name: `9999-${table}`,
  checksum: 'x',
  sql: `
    create table ${table} ();
    select for_app(app, 'grant select on ${table} to {role}; create policy {role} on ${table} to {role} using (true)')
    from (values ('webhook-worker'), ('operator-cli'), ('customer-api')) as a (app)`,
});

const rolesOn = (session: Connection, table: string) =>
  session.run(
    `select array(select distinct grantee::regrole::text from aclexplode(relacl) where grantee <> relowner order by 1) as granted,
       array(select roles::text from pg_policies where tablename = relname order by 1) as policies
     from pg_class where relname = $1`,
    [table],
  );

test('a migration grants by for_app() to roles of the database, and not to those that only the cluster has', async () => {
  const migrations = await readMigrations();
  await applyMigrations(ownerUrl, [...migrations, later('a')], {});
  expect(await rolesOn(superuser, 'a')).toEqual([{ granted: [], policies: [] }]);
  await setPrefix('');
  await applyMigrations(ownerUrl, [...migrations, later('a'), later('b')], {});
  expect(await rolesOn(superuser, 'b')).toEqual([{ granted: [], policies: [] }]);
  await superuser.run(`set role ${owner}`);
  await superuser.run(`select own_table('customer_order', 'customer', 'select, insert')`);
  await superuser.run('reset role');
  expect(await rolesOn(superuser, 'customer_order')).toEqual([{ granted: [], policies: [] }]);
  await setPrefix(prefix);

  const own = await forTest(createServiceDatabase());
  await applyMigrations(own.databaseUrl, [...migrations, later('a')], {});
  const expected = ['customer_api', 'operator', 'webhook_worker'];
  expect(await rolesOn(await forTest(connect(own.databaseUrl)), 'a')).toEqual([
    { granted: expected, policies: expected.map((role) => `{${role}}`) },
  ]);
});

test('a process of the owner counts once, although the cluster has a role of the name', async () => {
  await setPrefix('');
  const session = Object.assign(new URL(ownerUrl), { search: '?application_name=deedwire-customer-api' });
  const process = await forTest(connect(session.href));
  await process.run(`select register_process('customer-api', gen_random_uuid(), '1.0.0', null)`);
  await withStore(ownerUrl, async (store) => {
    const { processes } = (await selectEnvironment(store, { gidNamespace: 'service', service: testService }, [])).lists;
    expect(processes).toMatchObject([{ app: 'customer-api', version: '1.0.0' }]);
  });
});
