import { testService } from '@deedwire/core/test-service';
import { createTestDatabase, withClient } from '@deedwire/embedded-postgres';
import { connect, missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { applyMigrations, type GroupRole, migrate, readMigrations } from '../src/index.ts';
import { groupRolesOf, isRoleOfInterface } from '../src/migrations/group-roles.ts';
import { rightsOf } from '../src/migrations/rights.ts';
import { createServiceDatabase, withStore } from './support/database.ts';
import { problemsOf, testRights } from './support/rights.ts';
import { withoutSample } from './support/tested-services.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));

/** A database that began before the baseline. */
const older = await forFile(
  createTestDatabase({
    template: 'older',
    async prepare(url) {
      const chain = (await readMigrations()).filter(({ isBaseline }) => !isBaseline);
      await applyMigrations(url, chain, {});
    },
  }),
);

await testRights(withoutSample);

test('what a login of the worker left behind while it owned tables is reset, or stops the migration', async () => {
  const own = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  try {
    await applyMigrations(own.databaseUrl, (await readMigrations()).slice(0, 4), {});
    const worker = await connect(await own.urlFor('webhook_worker'));
    const name = `"${new URL(await own.urlFor('webhook_worker')).username}"`;
    const [{ role } = missing()] = await worker.run(
      `select grantee::regrole::text as role from pg_class, aclexplode(relacl)
       where oid = 'webhook_event'::regclass and grantee::regrole::text ~ '_api$' limit 1`,
    );
    await worker.run(`
      set role webhook_worker;
      grant all on webhook_event, webhook_payload to public, ${name};
      grant update (snapshot) on webhook_event to ${String(role)};
      alter table webhook_delivery disable row level security;
      create policy all_rows on webhook_event to ${String(role)} using (true);
      create rule spy as on insert to webhook_event do also update webhook_shard set recovering = true;
      reset role;
      create function steal() returns trigger language plpgsql as $$begin return new; end$$;
      create table loot ();
      set role webhook_worker;
      create trigger steal before insert on webhook_event for each row execute function steal();
      reset role`);
    const refused = (): Promise<string> => migrate(own.databaseUrl, testService).then(() => 'applied', String);
    const loginName = name.slice(1, -1);
    expect(await refused()).toContain(
      `: ${loginName} owns function public.steal(), ${loginName} owns table public.loot. No release of an app`,
    );
    await worker.run('drop table loot');
    await worker.run('drop trigger steal on webhook_event; drop function steal()');
    await worker.run(`set role webhook_worker; create trigger copy before update on webhook_event
      for each row execute function suppress_redundant_updates_trigger()`);
    expect(await refused()).toMatch(
      /A login of an app has created: .*trigger copy on table webhook_event, .*rule spy on table webhook_event\. /,
    );
    await worker.run('drop rule spy on webhook_event; drop trigger copy on webhook_event');
    await worker.close();

    await migrate(own.databaseUrl, testService);
    await withClient(own.databaseUrl, async (owner) => {
      // The other database has the interfaces of a service.
      const ofService = groupRolesOf(testService).filter(isRoleOfInterface).join('|');
      const rights = `select relname, relrowsecurity, array(select a::text from unnest(relacl) a where a::text !~ '^(${ofService})=') as rights
        from pg_class where relname ~ '^webhook_(event|payload|delivery|attempt)$' order by 1`;
      const policies = `select tablename, policyname, roles, cmd, qual, with_check from pg_policies
        where tablename ~ '^webhook_(event|payload|delivery|attempt)$' and policyname !~ '^(${ofService})$' order by 1, 2`;
      const [found, foundPolicies] = [(await owner.query(rights)).rows, (await owner.query(policies)).rows];
      await withClient(older.databaseUrl, async (ownerOfOlder) => {
        expect(found).toEqual((await ownerOfOlder.query(rights)).rows);
        expect(foundPolicies).toEqual((await ownerOfOlder.query(policies)).rows);
      });
    });
  } finally {
    await own.drop();
  }
});

test('a login stops no migration with large objects and temporary objects, which it can always create', async () => {
  const own = await createServiceDatabase();
  const api = await connect(await own.urlFor('supplier_api'));
  try {
    await api.run(`
      select lo_create(0);
      create temporary table t (a int);
      create temporary view v as select 1;
      create type pg_temp.e as enum ();
      create function pg_temp.f() returns int return 1`);
    const migrations = [...(await readMigrations()), { name: '9999-next', checksum: 'x', sql: 'select 1' }];
    expect(await applyMigrations(own.databaseUrl, migrations, {})).toMatchObject({ applied: ['9999-next'] });
  } finally {
    await api.close();
    await own.drop();
  }
});

test('an owner that is no superuser migrates, and then owns all', async () => {
  const own = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  const name = new URL(own.databaseUrl).pathname.slice(1);
  const deployer = `${name}_deployer`;
  const admin = await connect(own.databaseUrl);
  try {
    await admin.run(`
      create role ${deployer} login createrole password 'd';
      grant ${groupRolesOf(testService).join(', ')} to ${deployer} with admin option;
      alter database ${name} owner to ${deployer}`);
    const url = new URL(own.databaseUrl);
    [url.username, url.password] = [deployer, 'd'];
    await migrate(url.href, testService);
    const worker = await connect(await own.urlFor('webhook_worker'));
    try {
      await worker.run('call webhook_create_partitions(20)');
      expect(await worker.run('select webhook_drop_partition(1) as name')).toEqual([{ name: null }]);
      expect(await worker.run('select * from maintain_audit_log(100)')).toEqual([]);
      expect(await worker.run('select delete_expired_idempotency_keys(1) as count')).toEqual([{ count: '0' }]);
    } finally {
      await worker.close();
    }
    const owners = await admin.run(
      `select distinct relowner::regrole::text as owner from pg_class where relnamespace = 'public'::regnamespace`,
    );
    expect(owners).toEqual([{ owner: deployer }]);
  } finally {
    await admin.run(`reassign owned by ${deployer} to current_user`);
    await admin.run(`drop owned by ${deployer}; drop role ${deployer}`);
    await admin.close();
    await own.drop();
  }
});

test('of two installations in one cluster, a login reaches only its own, once the right to connect is revoked', async () => {
  const other = await createServiceDatabase();
  try {
    const name = new URL(other.databaseUrl).pathname.slice(1);
    const foreign = new URL(await database.urlFor('webhook_worker'));
    foreign.pathname = `/${name}`;
    const reached = await connect(foreign.href);
    expect(await reached.run('select count(*)::int as shards from webhook_shard')).toEqual([{ shards: 64 }]);
    await reached.close();

    const own = await other.urlFor('webhook_worker');
    await withClient(other.databaseUrl, (owner) =>
      owner.query(`revoke connect, temporary on database "${name}" from public;
        grant connect on database "${name}" to "${new URL(own).username}"`),
    );
    await expect(connect(foreign.href)).rejects.toThrow(`permission denied for database "${name}"`);
    const allowed = await connect(own);
    await allowed.close();
    await withClient(other.databaseUrl, (owner) =>
      owner.query(`revoke connect on database "${name}" from "${new URL(own).username}"`),
    );
  } finally {
    await other.drop();
  }
});

const rights = (url: string, role: GroupRole) => withStore(url, (store) => rightsOf(store, role));

describe('what an app finds missing in a database', () => {
  test('migrations/rights.json is what the migrations grant to the roles of the platform, and to that of every interface', async () => {
    const { databaseUrl } = database;
    const granted = {
      shared: await rights(databaseUrl, 'supplier_api'),
      webhook_worker: await rights(databaseUrl, 'webhook_worker'),
      operator: await rights(databaseUrl, 'operator'),
    };
    const words = await superuser.run('select words from shared_right');
    expect(words.map((row) => String(row['words'])).toSorted()).toEqual(granted.shared.toSorted());
    expect(granted.shared).toEqual(
      (await rights(databaseUrl, 'customer_api')).filter((right) => !right.endsWith(' on customer_order')),
    );
    expect(await rights(older.databaseUrl, 'webhook_worker')).toEqual(granted.webhook_worker);
    // After a new migration: run vitest with --update.
    await expect(`${JSON.stringify(granted, null, 2)}\n`).toMatchFileSnapshot('../migrations/rights.json');
  });

  test('a login without the group role of the app, or with that of another app', async () => {
    const url = new URL(database.databaseUrl);
    url.username = 'No role';
    url.password = 'secret';
    await superuser.run(`create role "No role" login password 'secret'`);
    expect(await problemsOf(url.href, 'supplier_api')).toEqual([
      'the login "No role" is not in the group role supplier_api of this app; run: grant supplier_api to "No role"',
    ]);
    await superuser.run('grant customer_api to "No role"');
    expect(await problemsOf(url.href, 'supplier_api')).toEqual([
      'the login "No role" is not in the group role supplier_api of this app; run: grant supplier_api to "No role"',
    ]);
    await superuser.run('grant supplier_api to "No role"');
    expect(await problemsOf(url.href, 'supplier_api')).toEqual([]);
    await superuser.run('drop role "No role"');
  });

  test('nothing, if a schema with the name of the login comes first in the search path', async () => {
    const own = await createServiceDatabase();
    const url = await own.urlFor('webhook_worker');
    const { username } = new URL(url);
    try {
      await withClient(own.databaseUrl, (owner) =>
        owner.query(`create schema "${username}" authorization "${username}"`),
      );
      await withClient(url, async (worker) => {
        expect((await worker.query('select current_schema() as schema')).rows).toEqual([{ schema: username }]);
      });
      expect(await problemsOf(url, 'webhook_worker')).toEqual([]);
    } finally {
      await own.drop();
    }
  });
});

test('the rights are read in a Turkish locale, in which "i" is not the lower case of "I"', async () => {
  const url = new URL(database.databaseUrl);
  url.pathname += '_turkish';
  const name = url.pathname.slice(1);
  await superuser.run(`create database ${name} template template0 locale_provider icu icu_locale 'tr-TR'`);
  try {
    await withClient(url.href, (client) =>
      client.query('create table schema_migration (); grant insert on schema_migration to operator'),
    );
    expect(await withStore(url.href, (store) => rightsOf(store, 'operator'))).toEqual(['insert on schema_migration']);
  } finally {
    await superuser.run(`drop database ${name}`);
  }
});
