import { testService } from '@deedwire/core/test-service';
import { withClient } from '@deedwire/embedded-postgres';
import { connect } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import {
  applyMigrations,
  createLoginSql,
  describeDatabaseProblems,
  findDatabaseRisks,
  findUsedSchema,
  groupRolesOf,
  migrate,
  onNewWait,
  type PlaceOptions,
  readMigrations,
  selectGroupRoles,
  selectLoginPlace,
  withSchema,
} from '../../src/index.ts';
import { rightsOf } from '../../src/migrations/rights.ts';
import { withStore } from '../support/database.ts';
import { createEmptyDatabase, dropRoles, newRolePrefix } from '../support/placed-database.ts';
import { seedAccount } from '../support/seed.ts';

const schema = 'deedwire';

/** A database of the test service with its own roles, and the URLs of its logins. */
async function createPlaced(rolePrefix = newRolePrefix()) {
  const database = await createEmptyDatabase();
  const { databaseUrl, run, name } = database;
  await migrate(databaseUrl, testService, { schema, rolePrefix });
  const ownerUrl = withSchema(databaseUrl, schema);
  const urls = new Map<string, string>();
  const logins: string[] = [];
  await withStore(ownerUrl, async (store) => {
    const place = await selectLoginPlace(store);
    for (const kind of groupRolesOf(testService)) {
      const login = `${name}_${rolePrefix}${kind}`;
      await run(createLoginSql(login, 'secret', rolePrefix + kind, place));
      const url = new URL(databaseUrl);
      [url.username, url.password] = [login, 'secret'];
      urls.set(kind, url.href);
      logins.push(`"${login}"`);
    }
  });
  return {
    ...database,
    ownerUrl,
    rolePrefix,
    urlFor: (kind: string): string => urls.get(kind) ?? '',
    async close() {
      await run(`drop owned by ${logins.join(', ')}; drop role ${logins.join(', ')}`);
      if (rolePrefix !== '') await dropRoles(database, rolePrefix);
      await database.close();
    },
  };
}

const problemsOf = (url: string, kind: 'supplier_api' | 'operator' | 'webhook_worker') =>
  withStore(url, (store) => describeDatabaseProblems(store, testService, kind));

/** The statements that store a prefix, and roll back. */
const setTo = (prefix: string): string =>
  `begin; update ${schema}.installation set role_prefix = '${prefix.replaceAll("'", "''")}'; rollback`;

const placed = await forFile(createPlaced());

describe('a prefix of the roles', () => {
  test('is in the names of the roles, and each has the rights that its app needs', async () => {
    const names = groupRolesOf(testService).map((kind) => placed.rolePrefix + kind);
    await withStore(placed.ownerUrl, async (store) => {
      expect(await selectGroupRoles(store, testService)).toEqual(names);
      for (const kind of groupRolesOf(testService)) expect(await rightsOf(store, kind)).toEqual([]);
    });
    for (const kind of ['supplier_api', 'operator', 'webhook_worker'] as const)
      expect(await problemsOf(placed.urlFor(kind), kind)).toEqual([]);
  });

  test('is in the remedies', async () => {
    const role = `${placed.rolePrefix}supplier_api`;
    expect(await problemsOf(placed.urlFor('webhook_worker'), 'supplier_api')).toEqual([
      `the login is not in the group role ${role}; let this app have its own login, which \`deedwire-operator database logins\` prints`,
    ]);
    await placed.run(`revoke select on ${schema}.account from ${role}`);
    const remedy = `grant select on "${schema}".account to ${role}`;
    expect(await problemsOf(placed.urlFor('supplier_api'), 'supplier_api')).toEqual([
      `the group role ${role} lacks the right "select on account"; run: ${remedy}`,
    ]);
    await placed.run(remedy);
    expect(await problemsOf(placed.urlFor('supplier_api'), 'supplier_api')).toEqual([]);
  });

  test('never changes', async () => {
    await expect(migrate(placed.databaseUrl, testService, { schema, rolePrefix: 'other_' })).rejects.toThrow(
      `The names of the roles of the database begin with "${placed.rolePrefix}", not with "other_", and cannot change.`,
    );
    const { rolePrefix } = placed;
    expect(await migrate(placed.databaseUrl, testService, { schema, rolePrefix })).toMatchObject({ applied: [] });
  });

  test('is bounded, so that the longest name of a policy is not cut', async () => {
    await placed.run(setTo(`${'a'.repeat(19)}_`));
    for (const prefix of [`${'a'.repeat(20)}_`, 'shop', '_', 'Shop_', '1_', "a'_"])
      await expect(placed.run(setTo(prefix))).rejects.toThrow('installation_role_prefix_bounds');
    expect(`${'a'.repeat(19)}_${'i'.repeat(31)}_api_actions`).toHaveLength(63);
  });

  test('is in the roles and policies of an interface that is added later, and of the tables of an application', async () => {
    const { run, rolePrefix } = placed;
    await run(`alter type ${schema}.interface_name add value if not exists 'late'`);
    await run(`set search_path = ${schema}; select add_interface('late', 'Late')`);
    const role = `${rolePrefix}late_api`;
    expect(await run('select rolname from pg_roles where rolname in ($1, $2)', [role, 'late_api'])).toEqual([
      { rolname: role },
    ]);
    await withStore(placed.ownerUrl, async (store) => {
      expect(await rightsOf(store, role)).toEqual(
        await rightsOf(store, `${rolePrefix}customer_api`).then((rights) =>
          rights.filter((right) => !right.includes('customer_order')),
        ),
      );
    });
    const policies = `select policyname as name from pg_policies where schemaname = $1 and tablename = $2 order by 1`;
    expect((await run(policies, [schema, 'audit_entry'])).map(({ name }) => name)).toContain(`${role}_actions`);
    expect(await run(policies, [schema, 'customer_order'])).toEqual([
      { name: `${rolePrefix}customer_api` },
      { name: `${rolePrefix}operator` },
    ]);
  });
});

describe('two services of one cluster with interfaces of the same names', async () => {
  const other = await forFile(createPlaced());

  test.each(groupRolesOf(testService))('a login of %s of the one is nothing in the other', async (kind) => {
    const url = new URL(placed.urlFor(kind));
    url.pathname = `/${other.name}`;
    const session = await forTest(connect(withSchema(url.href, schema)));
    await expect(session.run(`select from ${schema}.webhook_event`)).rejects.toThrow('permission denied for schema');
    await expect(session.run('select from webhook_event')).rejects.toThrow('does not exist');
    await expect(session.run(`select ${schema}.check_homes('{}')`)).rejects.toThrow('permission denied for schema');
    expect(
      await session.run('select pg_has_role(oid, $1) as is_member from pg_roles where rolname = $2', [
        'usage',
        other.rolePrefix + kind,
      ]),
    ).toEqual([{ is_member: false }]);

    const own = await forTest(connect(placed.urlFor(kind)));
    expect(await own.run('select from schema_migration limit 1')).toHaveLength(1);
  });

  test('the functions of the other one take it for no app, even if it may use the schema and call them', async () => {
    const login = new URL(placed.urlFor('supplier_api')).username;
    await other.run(
      `grant usage on schema ${schema} to "${login}"; grant execute on function ${schema}.register_process to "${login}"`,
    );
    const url = new URL(placed.urlFor('supplier_api'));
    url.pathname = `/${other.name}`;
    const session = await forTest(connect(withSchema(url.href, schema)));
    const register = `select register_process('supplier-api', gen_random_uuid(), '1.0.0', null)`;
    await expect(session.run(register)).rejects.toThrow('cannot record for supplier-api: it is a login of no app');
    await other.run(
      `revoke usage on schema ${schema} from "${login}"; revoke execute on function ${schema}.register_process from "${login}"`,
    );
    const own = await forTest(connect(other.urlFor('supplier_api')));
    await own.run(register);
  });

  test('each interface sees its accounts in its database, and no others', async () => {
    const { id } = await withStore(other.ownerUrl, (store) => seedAccount(store, 'supplier'));
    const found = [other.urlFor('supplier_api'), other.urlFor('customer_api'), placed.urlFor('supplier_api')].map(
      (url) => withClient(url, async (client) => (await client.query<{ id: string }>('select id from account')).rows),
    );
    expect(await Promise.all(found)).toEqual([[{ id }], [], []]);
  });
});

describe('an application and the platform with one login', async () => {
  const database = await forFile(createEmptyDatabase());
  const login = `${database.name}_shop`;
  await database.run(`create role "${login}" login superuser password 'secret'`);
  await database.run(`create table public.account (email text); insert into public.account values ('ada@shop.test')`);
  await migrate(database.databaseUrl, testService, { schema });
  const url = new URL(database.databaseUrl);
  [url.username, url.password] = [login, 'secret'];
  await forFile(Promise.resolve({ close: () => database.run(`drop role "${login}"`) }));

  test('each finds its own table of the same name', async () => {
    await withClient(url.href, async (application) => {
      expect((await application.query('select email from account')).rows).toEqual([{ email: 'ada@shop.test' }]);
    });
    await withStore(withSchema(url.href, schema), async (store) => {
      expect(await describeDatabaseProblems(store, testService, 'supplier_api')).toEqual([]);
      const { id } = await seedAccount(store, 'supplier');
      const found = { name: 'find-account', text: 'select id from account' };
      expect(await store.query(found, [])).toEqual([{ id }]);
      expect(await store.transaction((transaction) => transaction.query(found, []))).toEqual([{ id }]);
    });
  });

  test('`migrate` stays in its schema, even where the login, the database and the URL have another search path', async () => {
    const before = await database.run(`select relname from pg_class where relnamespace = 'public'::regnamespace`);
    await database.run(`alter role "${login}" set search_path = public`);
    const ofUrl = `${url.href}?options=${encodeURIComponent('-c search_path=public')}`;
    expect(await migrate(ofUrl, testService, { schema })).toMatchObject({ applied: [] });
    expect(await database.run(`select relname from pg_class where relnamespace = 'public'::regnamespace`)).toEqual(
      before,
    );
    await database.run(`alter role "${login}" reset search_path`);
  });

  test('what misses the schema says what to set, and no remedy names the login or the database', async () => {
    const messages = [
      await migrate(url.href, testService).then(String, String),
      await migrate(url.href, testService, { schema: 'public' }).then(String, String),
      ...(await problemsOf(url.href, 'supplier_api')),
      ...(await withStore(withSchema(url.href, schema), findDatabaseRisks)).map(({ description }) => description),
    ];
    await database.run(`alter database "${database.name}" set session_replication_role = replica`);
    messages.push(...(await problemsOf(withSchema(url.href, schema), 'supplier_api')));
    await database.run(`alter database "${database.name}" reset session_replication_role`);
    expect(messages.slice(0, 3)).toEqual([
      expect.stringContaining(
        'the tables are in the schema deedwire, which the search path of the login does not contain; set DATABASE_SCHEMA',
      ),
      expect.stringContaining(
        'the tables are in the schema deedwire, not public, and cannot move; set DATABASE_SCHEMA=deedwire',
      ),
      expect.stringContaining('set DATABASE_SCHEMA=deedwire'),
    ]);
    expect(messages.at(-1)).toContain(
      'the setting session_replication_role is "replica", but must be "origin"; let this app',
    );
    for (const message of messages) {
      expect(message).not.toContain(login);
      expect(message).not.toContain(database.name);
    }
  });

  test('a schema with tables of the same names is not taken, and not recommended', async () => {
    await database.run(
      'create schema attacker; create table attacker.schema_migration (); create table attacker.installation ()',
    );
    const several = 'the tables are in the schemas attacker and deedwire, ';
    const remedy = 'set DATABASE_SCHEMA to the one that is yours';
    expect(await problemsOf(url.href, 'supplier_api')).toEqual([expect.stringMatching(`^${several}.*${remedy}`)]);
    await expect(migrate(url.href, testService)).rejects.toThrow(several);
    expect(await migrate(url.href, testService, { schema })).toMatchObject({ applied: [] });
    expect(await problemsOf(withSchema(url.href, schema), 'supplier_api')).toEqual([]);
    await database.run('drop schema attacker cascade');
  });

  test('`migrate` runs no operator of another login in the search path of its login', async () => {
    await database.run(
      `create table public.loot (); create function public.steal(oid, regclass) returns boolean language plpgsql as $$ begin insert into public.loot default values; return false; end $$;
       create operator public.= (leftarg = oid, rightarg = regclass, function = public.steal)`,
    );
    expect(await migrate(database.databaseUrl, testService, { schema })).toMatchObject({ applied: [] });
    expect(await database.run('select from public.loot')).toEqual([]);
    await database.run('drop operator public.= (oid, regclass); drop function public.steal; drop table public.loot');
  });

  test('a schema of the name of the login, objects in public and temporary ones hide no table', async () => {
    await database.run(`create schema "${login}"`);
    for (const hiding of [login, 'public'])
      await database.run(
        `create table "${hiding}".schema_migration (); create table "${hiding}".webhook_event (); create function "${hiding}".check_homes(int[]) returns void return null`,
      );
    await withClient(withSchema(url.href, schema), async (client) => {
      await client.query('create temporary table account (); create temporary table webhook_event ()');
      const { rows } = await client.query(
        `select relnamespace::regnamespace::text as schema from pg_class
         where oid in (to_regclass('account'), to_regclass('schema_migration'), to_regclass('webhook_event')) group by 1`,
      );
      expect(rows).toEqual([{ schema }]);
      await client.query('select id from account');
    });
    expect(await problemsOf(withSchema(url.href, schema), 'supplier_api')).toEqual([]);
  });
});

test('a schema that was renamed, whose functions name it, is refused until it has its name again', async () => {
  const { databaseUrl, run } = await forTest(createEmptyDatabase());
  await migrate(databaseUrl, testService, { schema: 'Deed Wire' });
  await run('alter schema "Deed Wire" rename to moved');
  const problem =
    'the schema "Deed Wire" was renamed to moved, and functions contain its name; run as its owner: alter schema moved rename to "Deed Wire"';
  await expect(migrate(databaseUrl, testService, { schema: 'moved' })).rejects.toThrow(problem);
  expect(await problemsOf(withSchema(databaseUrl, 'moved'), 'operator')).toEqual([problem]);
  await run('alter schema moved rename to "Deed Wire"');
  expect(await problemsOf(databaseUrl, 'operator')).toEqual([
    expect.stringContaining(`set DATABASE_SCHEMA='Deed Wire', and behind a transaction pooler`),
  ]);
  expect(await migrate(databaseUrl, testService, { schema: 'Deed Wire' })).toMatchObject({ applied: [] });
  expect(await problemsOf(withSchema(databaseUrl, 'Deed Wire'), 'operator')).toEqual([]);
});

/** What a command finds without DATABASE_SCHEMA. */
const usedBy = (url: string) => withStore(url, findUsedSchema);

/** Tables with the names of ours. */
const seedIn = (name: string): string =>
  `create table ${name}.schema_migration (); create table ${name}.installation ();`;

describe('a place by default', () => {
  const defaults = { schema, rolePrefix: '' };

  test('is that of a new database, which later runs and commands find', async () => {
    const database = await forTest(createEmptyDatabase());
    const rolePrefix = newRolePrefix();
    const migrateAgain = (chosen: PlaceOptions) => migrate(database.databaseUrl, testService, chosen);
    expect(await usedBy(database.databaseUrl)).toBeNull();
    const place = { schema, rolePrefix };
    expect(await migrateAgain({ defaults: place })).toMatchObject({ place, isNew: true });
    // Another release of the service can have another name.
    expect(await migrateAgain({ defaults })).toMatchObject({ place, isNew: false, applied: [] });
    expect(await usedBy(database.databaseUrl)).toEqual({ schema, isVisible: false });
    expect(await usedBy(withSchema(database.databaseUrl, schema))).toEqual({ schema, isVisible: true });
    await expect(migrateAgain({ defaults: { ...defaults, schema: 'other' } })).rejects.toThrow(
      'set DATABASE_SCHEMA=deedwire',
    );
    await dropRoles(database, rolePrefix);
  });

  test('is not that of a database that has its tables elsewhere', async () => {
    const database = await forTest(createEmptyDatabase());
    await database.run('create schema attacker');
    const place = { schema: 'public', rolePrefix: '' };
    expect(await migrate(database.databaseUrl, testService)).toMatchObject({ place, isNew: true });
    const chosen = { defaults: { schema, rolePrefix: newRolePrefix() } };
    expect(await migrate(database.databaseUrl, testService, chosen)).toMatchObject({ place, isNew: false });
    expect(await usedBy(database.databaseUrl)).toEqual({ schema: 'public', isVisible: true });
    expect(await database.run('select from pg_namespace where nspname = $1', [schema])).toEqual([]);
  });

  test('gives a new database in `public` no prefix, as those of before', async () => {
    const database = await forTest(createEmptyDatabase());
    const chosen = { schema: 'public', defaults: { schema, rolePrefix: newRolePrefix() } };
    expect(await migrate(database.databaseUrl, testService, chosen)).toMatchObject({
      place: { schema: 'public', rolePrefix: '' },
    });
  });

  test('is not taken from another login, and not if there are tables in another schema, too', async () => {
    const database = await forTest(createEmptyDatabase());
    const attacker = `${database.name}_attacker`;
    await database.run(`create role ${attacker}; create schema ${schema} authorization ${attacker}; ${seedIn(schema)}`);
    expect(await usedBy(database.databaseUrl)).toBeNull();
    await expect(migrate(database.databaseUrl, testService, { defaults })).rejects.toThrow(
      `the schema deedwire has tables with the names of ours, and belongs to ${attacker}; if they are yours`,
    );
    await database.run(`drop schema ${schema} cascade; drop role ${attacker}`);
    await migrate(database.databaseUrl, testService, { defaults });
    await database.run(seedIn('public'));
    await expect(migrate(database.databaseUrl, testService, { defaults })).rejects.toThrow(
      'the tables are in the schemas deedwire and public; set DATABASE_SCHEMA to the one that is yours',
    );
    expect(await migrate(database.databaseUrl, testService, { schema, defaults })).toMatchObject({ applied: [] });
  });
});

test('a login in `public` never looks in a schema with its name', async () => {
  const database = await forTest(createEmptyDatabase());
  await migrate(database.databaseUrl, testService);
  const login = `${database.name}_login`;
  const place = await withStore(database.databaseUrl, selectLoginPlace);
  await database.run(createLoginSql(login, 'secret', 'operator', place));
  await database.run(`create schema "${login}" authorization "${login}"; create table "${login}".account ()`);
  const url = Object.assign(new URL(database.databaseUrl), { username: login, password: 'secret' });
  expect(await withClient(url.href, async (client) => (await client.query('select id from account')).rows)).toEqual([]);
  expect(await problemsOf(url.href, 'operator')).toEqual([]);
  await database.run(`drop schema "${login}" cascade; drop role "${login}"`);
});

describe('a new database', () => {
  test('waits for a login that holds the lock of its creation, and names it', async () => {
    const database = await forTest(createEmptyDatabase());
    const holder = await forTest(connect(database.databaseUrl));
    await holder.run(`set application_name = 'psql'; select pg_advisory_lock(57069)`);
    const said: string[] = [];
    const onWait = onNewWait((text) => {
      said.push(text);
      void holder.run('select pg_advisory_unlock(57069)');
    });
    expect(await migrate(database.databaseUrl, testService, { schema, onWait })).toMatchObject({ isNew: true });
    expect(said).toEqual([
      expect.stringMatching(/^The list of migrations waits for sessions: \d+ \(psql, \w+, idle\)\.$/),
    ]);
  });

  test('gets its schema by the first migration only if that one takes it', async () => {
    const database = await forTest(createEmptyDatabase());
    const ofBefore = (await readMigrations()).filter(({ isBaseline }) => !isBaseline);
    for (const place of [{ schema }, { rolePrefix: 'shop_' }])
      await expect(applyMigrations(database.databaseUrl, ofBefore, place)).rejects.toThrow(
        'creates tables in the schema public and roles without a prefix only',
      );
    expect(await database.run('select from pg_namespace where nspname = $1', [schema])).toEqual([]);
  });

  test('is created once by several processes, and has the prefix of the first one', async () => {
    const database = await forTest(createEmptyDatabase());
    const prefixes = [newRolePrefix(), newRolePrefix()];
    const results = await Promise.allSettled(
      [...prefixes, ...prefixes].map((rolePrefix) =>
        migrate(database.databaseUrl, testService, { schema, rolePrefix }),
      ),
    );
    const [installation] = await database.run(`select role_prefix as own from ${schema}.installation`);
    const own = String(installation?.['own']);
    expect(
      results.map((result) => (result.status === 'rejected' ? String(result.reason) : 'migrated')).toSorted(),
    ).toEqual([
      ...Array.from({ length: 2 }, () =>
        expect.stringMatching(`^RolePrefixMismatchError: .* begin with "${own}", not with "p`),
      ),
      'migrated',
      'migrated',
    ]);
    const found = await database.run('select rolname as role from pg_roles where rolname ~ $1', [
      `^(${prefixes.join('|')})`,
    ]);
    expect(found.filter(({ role }) => !String(role).startsWith(own))).toEqual([]);
    // With that of applications.
    expect(found).toHaveLength(groupRolesOf(testService).length + 1);
    await dropRoles(database, own);
  });

  test('is created in one schema by several processes', async () => {
    const database = await forTest(createEmptyDatabase());
    const schemas = ['one', 'two', 'public'];
    const results = await Promise.allSettled(
      schemas.map((name) => migrate(database.databaseUrl, testService, { schema: name })),
    );
    const refusal = expect.stringMatching(
      /^UnsuitableDatabaseError: Nothing was migrated: the tables are in the schema \w+, not \w+, and cannot move/,
    );
    expect(
      results.map((result) => (result.status === 'rejected' ? String(result.reason) : 'migrated')).toSorted(),
    ).toEqual([refusal, refusal, 'migrated']);
    expect(await database.run(`select from pg_class where relname = 'installation'`)).toHaveLength(1);
  });

  test.each(["o'brien", 'a$$b', '$user', 'a%s', '{schema}', '', 'x'.repeat(64), 'ü'.repeat(32)])(
    'is not created in a schema with the name %j',
    async (name) => {
      const database = await forTest(createEmptyDatabase());
      await expect(migrate(database.databaseUrl, testService, { schema: name })).rejects.toThrow(
        `Nothing was migrated: the name "${name}" of the schema must have 1 to 63 bytes, and only letters`,
      );
      expect(await database.run('select from pg_namespace where nspname = left($1, 63)', [name])).toEqual([]);
    },
  );

  test.each(['Deed Wire-ü', 'x'.repeat(63)])('is created in a schema with the name %j', async (name) => {
    const database = await forTest(createEmptyDatabase());
    await migrate(database.databaseUrl, testService, { schema: name });
    expect(await migrate(database.databaseUrl, testService, { schema: name })).toMatchObject({ applied: [] });
    expect(await problemsOf(withSchema(database.databaseUrl, name), 'operator')).toEqual([]);
  });

  test('does not take the roles of another database, even if a superuser creates both', async () => {
    const database = await forTest(createEmptyDatabase());
    await expect(migrate(database.databaseUrl, testService, { schema, rolePrefix: placed.rolePrefix })).rejects.toThrow(
      `the cluster has the role ${placed.rolePrefix}webhook_worker already, where it belongs to ${placed.name}; choose other names with --role-prefix`,
    );
    expect(await database.run('select from pg_namespace where nspname = $1', [schema])).toEqual([]);
  });

  test('is not created by a superuser in a schema that another login owns, even if it has the name of the superuser', async () => {
    const database = await forTest(createEmptyDatabase());
    const attacker = `${database.name}_attacker`;
    const superuser = new URL(database.databaseUrl).username;
    await database.run(
      `create role ${attacker}; create schema ${schema} authorization ${attacker}; create schema "${superuser}" authorization ${attacker}`,
    );
    const refusal = (name: string) => `the schema ${name} belongs to ${attacker}, which could replace the tables in it`;
    await expect(migrate(database.databaseUrl, testService)).rejects.toThrow(refusal(superuser));
    await expect(migrate(database.databaseUrl, testService, { schema })).rejects.toThrow(refusal(schema));
    await database.run(
      `create table "${superuser}".installation (); create table "${superuser}".schema_migration (); grant usage on schema "${superuser}" to public`,
    );
    const ofOther = `the schema ${superuser} has tables with the names of ours, and belongs to ${attacker}; `;
    await expect(migrate(database.databaseUrl, testService)).rejects.toThrow(`${ofOther}set DATABASE_SCHEMA to the`);
    await expect(migrate(database.databaseUrl, testService, { schema: 'elsewhere' })).rejects.toThrow(
      `${ofOther}if they are yours, set DATABASE_SCHEMA, otherwise let their owner remove them`,
    );
    await database.run(`drop owned by ${attacker} cascade; drop role ${attacker}`);
  });

  test('is not created in a schema that another login owns', async () => {
    const database = await forTest(createEmptyDatabase());
    const [login, attacker] = [`${database.name}_owner`, `${database.name}_attacker`];
    await database.run(
      `create role ${login} login createrole password 'secret'; create role ${attacker}; create schema ${schema} authorization ${attacker};
       grant all on schema ${schema} to ${login} with grant option`,
    );
    const url = new URL(database.databaseUrl);
    [url.username, url.password] = [login, 'secret'];
    await expect(migrate(url.href, testService, { schema })).rejects.toThrow(
      `the schema deedwire belongs to ${attacker}, which could replace the tables in it; choose another one`,
    );
    await expect(migrate(url.href, testService, { schema: 'elsewhere' })).rejects.toThrow(
      'there is no schema elsewhere that this login may use, and it may not create schemas; as the owner of the database, create the schema',
    );
    await database.run(`drop schema ${schema}; drop owned by ${login}; drop role ${login}, ${attacker}`);
  });
});
