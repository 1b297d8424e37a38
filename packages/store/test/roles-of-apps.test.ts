import { testService } from '@deedwire/core/test-service';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { groupRolesOf, migrate } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';

// Migrated by an owner that is no superuser, because a superuser is a member of every role.
const database = await forFile(createTestDatabase({ template: 'empty', prepare: async () => {} }));
const superuser = await forFile(connect(database.databaseUrl));
const databaseName = new URL(database.databaseUrl).pathname.slice(1);

interface Login {
  name: string;
  url: string;
  close(): Promise<void>;
}

async function createLogin(kind: string, options = ''): Promise<Login> {
  const name = `${databaseName}_${kind}`;
  await superuser.run(`create role ${name} login password 'p' ${options}`);
  const url = new URL(database.databaseUrl);
  [url.username, url.password] = [name, 'p'];
  return {
    name,
    url: url.href,
    async close() {
      await superuser.run(`reassign owned by ${name} to current_user`);
      await superuser.run(`drop owned by ${name}; drop role ${name}`);
    },
  };
}

// The group roles of the cluster.
await forFile(createServiceDatabase());
const ownerLogin = await forFile(createLogin('owner', 'createrole'));
await superuser.run(
  `grant ${groupRolesOf(testService).join(', ')} to ${ownerLogin.name} with admin option; alter database ${databaseName} owner to ${ownerLogin.name}`,
);
await migrate(ownerLogin.url, testService);
const owner = await forFile(connect(ownerLogin.url));

/** Names roles that this cluster does not have. The logins of the group roles keep their rights to call the functions. */
const absentRole = (app: string): string => `${databaseName}_absent_${app.replaceAll('-', '_')}`;
const nameRoles = (name: string) =>
  owner.run(`create or replace function role_name(app text) returns text language sql immutable return ${name}`);
const nameAbsentRoles = () => nameRoles(`'${absentRole('')}' || replace(app, '-', '_')`);

const apps = ['customer-api', 'supplier-api', 'webhook-worker', 'operator-cli'];

/** As which apps a session counts. */
async function countsAs(session: Connection): Promise<string[]> {
  const counted: string[] = [];
  for (const app of apps) {
    try {
      await session.run(`select register_process($1, gen_random_uuid(), '1.0.0', null)`, [app]);
      counted.push(app);
    } catch (error) {
      if (!String(error).includes(`cannot record for ${app}: it is a login of`)) throw error;
    }
  }
  return counted;
}

const storeBuild = (session: Connection, app: string) =>
  session.run(`select store_app_contracts($1, json_build_object('app', $1::text)::text)`, [app]);

/** What the function answers to a session that revokes a key which does not exist: REFUSED or NOT_FOUND. */
async function revoke(session: Connection, actingKey: string | null): Promise<unknown> {
  const [row] = await session.run(`select revoke_api_key($1, null, 'unknown') as problem`, [actingKey]);
  return row?.['problem'];
}

let account: string;

beforeAll(async () => {
  const [row] = await owner.run(
    `with organization as (insert into organization (name) values ('Test') returning id)
     insert into account (interface, organization_id, name) select 'supplier', id, 'Test' from organization returning id`,
  );
  account = String(row?.['id']);
  await owner.run(
    `insert into api_client (account_id, interface, client_id, schema_version) values ($1, 'supplier', 'c', '2026-11-01')`,
    [account],
  );
  await owner.run(`insert into api_key (key_id, api_client_id, interface, key_hash, abilities)
    select 'key', id, interface, sha256(''), '{READ,MANAGE_KEYS}' from api_client`);
  await nameAbsentRoles();
});

describe('where the group roles do not exist', () => {
  test('the owner counts as a login of every app', async () => {
    expect(await countsAs(owner)).toEqual(apps);
    expect(await revoke(owner, null)).toBe('NOT_FOUND');
    expect(await revoke(owner, 'key')).toBe('NOT_FOUND');
  });

  test('the owner stores builds, records use, creates links and reads the queue', async () => {
    const process = '00000000-0000-4000-8000-000000000000';
    for (const app of apps) {
      await storeBuild(owner, app);
      await owner.run('select end_process($1, $2)', [app, process]);
    }
    // The second time, the function looks for processes of an earlier release.
    for (const counted of [null, 0])
      await owner.run(`select record_use('supplier-api', $1, $2, false, false, '', '{c}', '{v}', '{a}', '{1}')`, [
        process,
        counted,
      ]);
    expect(await owner.run('select count::int from interface_use')).toEqual([{ count: 2 }]);
    await owner.run(
      `insert into portal_session
         (account_id, interface, actor, abilities, invited_client_id, invited_abilities, link_hash, expires_at)
       select account_id, interface, 'a', '{READ,MANAGE_KEYS}', id, '{READ}', sha256(''), now() + interval '1 minute'
       from api_client where client_id = 'c'`,
    );
    expect(await owner.run('select webhook_oldest_queued_event($1) as id', [account])).toEqual([{ id: null }]);
    await owner.run('select require_no_app()');
  });

  test.each(groupRolesOf(testService))('a login of %s, which may call the functions, counts as none', async (role) => {
    const session = await forTest(connect(await database.urlFor(role)));
    expect(await countsAs(session)).toEqual([]);
    await session.run(`set role ${role}`);
    expect(await countsAs(session)).toEqual([]);
  });

  test('a login of one that does exist counts as no other', async () => {
    await nameRoles(
      `case app when 'supplier-api' then 'supplier_api' else '${absentRole('')}' || replace(app, '-', '_') end`,
    );
    const session = await forTest(connect(await database.urlFor('supplier_api')));
    expect(await countsAs(session)).toEqual(['supplier-api']);
    expect(await revoke(session, null)).toBe('REFUSED');
    expect(await revoke(session, 'key')).toBe('NOT_FOUND');
    await nameAbsentRoles();
  });
});

test('an interface has no role where the owner may not create one, and gets its rights once there is one', async () => {
  const role = absentRole('supplier-api');
  const add = () => owner.run(`select add_interface('supplier', 'Supplier')`);
  const rights = () =>
    superuser.run('select distinct tablename from pg_policies where roles = array[$1::name] order by 1', [role]);
  await superuser.run(`alter role ${ownerLogin.name} nocreaterole`);
  await add();
  expect(await superuser.run('select from pg_roles where rolname = $1', [role])).toEqual([]);
  expect(await countsAs(owner)).toEqual(apps);

  await superuser.run(`create role ${role}`);
  onTestFinished(async () => {
    await superuser.run(`drop owned by ${role}; drop role ${role}; alter role ${ownerLogin.name} createrole`);
  });
  await add();
  expect(await rights()).toEqual(
    await owner.run('select distinct relation as tablename from shared_policy order by 1'),
  );
  expect(await countsAs(owner)).toEqual(apps.filter((app) => app !== 'supplier-api'));
});

test('a login that creates a role of the name counts as none until the owner grants to this role', async () => {
  const attacker = await forTest(createLogin('attacker', 'createrole'));
  await superuser.run(`grant supplier_api to ${attacker.name}`);
  const session = await forTest(connect(attacker.url));
  const created = apps.map(absentRole);
  await session.run(created.map((role) => `create role ${role}; grant ${role} to current_user`).join(';'));
  onTestFinished(async () => {
    await superuser.run(created.map((role) => `drop owned by ${role}; drop role ${role}`).join(';'));
  });
  // It inherits the rights of a group role.
  await superuser.run(`grant supplier_api to ${absentRole('operator-cli')}`);

  expect(await countsAs(session)).toEqual([]);
  expect([await revoke(session, null), await revoke(session, 'key')]).toEqual(['REFUSED', 'REFUSED']);
  expect([await countsAs(owner), await revoke(owner, null)]).toEqual([apps, 'NOT_FOUND']);

  await owner.run(`grant select on schema_migration to ${absentRole('operator-cli')}`);
  expect(await countsAs(session)).toEqual(['operator-cli']);
  expect(await revoke(session, null)).toBe('NOT_FOUND');
});

test('a login of several group roles records for none, and a superuser for each', async () => {
  await nameRoles(`case app when 'operator-cli' then 'operator' else replace(app, '-', '_') end`);
  const several = await forTest(createLogin('several'));
  await superuser.run(`grant supplier_api, customer_api to ${several.name}`);
  const session = await forTest(connect(several.url));
  await expect(storeBuild(session, 'supplier-api')).rejects.toThrow('it is a login of customer-api and supplier-api');
  // Without a build.
  expect(await countsAs(session)).toEqual(['customer-api', 'supplier-api']);
  for (const app of apps) await storeBuild(superuser, app);
  expect(await countsAs(superuser)).toEqual(apps);
});
