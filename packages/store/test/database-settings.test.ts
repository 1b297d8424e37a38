import { testService } from '@deedwire/core/test-service';
import { createTestDatabase, type TestDatabase, withClient } from '@deedwire/embedded-postgres';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  applyMigrations,
  type Database,
  describeDatabaseProblems,
  findDatabaseProblems,
  findDatabaseRisks,
  type GroupRole,
  migrate,
  onlyRow,
  readMigrations,
  type Store,
  type StoreOptions,
} from '../src/index.ts';
import { createServiceDatabase, withStore } from './support/database.ts';
import { orderWrite } from './support/order-write.ts';
import { seedAccount } from './support/seed.ts';

/** The options of a store behind a transaction pooler. */
const pooled: Partial<StoreOptions> = { prepares: false };

const nameOf = (databaseUrl: string): string => new URL(databaseUrl).pathname.slice(1);

async function dropLater(database: TestDatabase) {
  onTestFinished(() => database.drop());
  const name = nameOf(database.databaseUrl);
  const run = (text: string) => withClient(database.databaseUrl, async (client) => (await client.query(text)).rows);
  return {
    databaseUrl: database.databaseUrl,
    urlFor: (role: GroupRole) => database.urlFor(role),
    name,
    run,
    set: (setting: string) => run(`alter database "${name}" set ${setting}`),
  };
}

const emptyDatabase = async () => dropLater(await createTestDatabase({ template: 'empty', prepare: async () => {} }));
const migratedDatabase = async () => dropLater(await createServiceDatabase());

const valueOf = async (database: Database, setting: string) =>
  onlyRow(
    await database.query<{ value: string }>({ name: 'value', text: 'select current_setting($1) as value' }, [setting]),
  ).value;

const problemsOf = (databaseUrl: string, options?: Partial<StoreOptions>) =>
  withStore(databaseUrl, (store) => describeDatabaseProblems(store, testService, 'supplier_api'), options);

/** A login that may create roles, and nothing else. */
async function loginOf({ name, databaseUrl, run }: Awaited<ReturnType<typeof emptyDatabase>>) {
  const login = `${name}_owner`;
  await run(`create role "${login}" login createrole password 'secret'`);
  const url = new URL(databaseUrl);
  url.username = login;
  url.password = 'secret';
  return { login, url: url.href };
}

const risksOf = (databaseUrl: string) =>
  withStore(databaseUrl, async (store) => (await findDatabaseRisks(store)).map(({ description }) => description));

/** What a trigger sees while an order is inserted by a shared write. */
const written = async (store: Store, run: (text: string) => Promise<unknown[]>) => {
  const { id } = await seedAccount(store, 'customer');
  await run(`
    create table seen (value text);
    create function see() returns trigger language plpgsql as $$
    begin insert into seen values (current_setting('synchronous_commit')); return null; end $$;
    create trigger see after insert on customer_order execute function see()`);
  await store.write(orderWrite(id, 'Ada'));
  return run('select value from seen');
};

/** Settings with which statements had other results, and their values for the store. */
const ofResults = [
  ['datestyle', `'German, DMY'`, 'ISO, MDY'],
  ['timezone', `'America/New_York'`, 'UTC'],
  ['standard_conforming_strings', 'off', 'on'],
  ['array_nulls', 'off', 'on'],
  ['default_transaction_isolation', `'serializable'`, 'read committed'],
  ['extra_float_digits', '-15', '1'],
  ['quote_all_identifiers', 'on', 'off'],
  ['row_security', 'off', 'on'],
] as const;

test('sets what a database has otherwise', async () => {
  const { databaseUrl, set } = await migratedDatabase();
  for (const [setting, value] of ofResults) await set(`${setting} = ${value}`);
  await withStore(databaseUrl, async (store) => {
    for (const [setting, , expected] of ofResults) {
      expect([setting, await valueOf(store, setting)]).toEqual([setting, expected]);
      expect(await store.transaction((transaction) => valueOf(transaction, setting))).toBe(expected);
    }
    expect(await describeDatabaseProblems(store, testService, 'supplier_api')).toEqual([]);
  });
});

test('sets what a login, a login in the database, PGOPTIONS and the URL have', async () => {
  const { databaseUrl, urlFor, run, name } = await migratedDatabase();
  const loginUrl = await urlFor('supplier_api');
  const login = new URL(loginUrl).username;
  await run(`alter role "${login}" set datestyle = 'SQL, DMY'; alter role "${login}" set array_nulls = off`);
  await run(`alter role "${login}" in database "${name}" set row_security = off`);
  vi.stubEnv('PGOPTIONS', '-c default_transaction_isolation=serializable -c standard_conforming_strings=off');
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const url of [loginUrl, `${loginUrl}?options=${encodeURIComponent('-c array_nulls=off -c datestyle=German')}`]) {
    await withStore(url, async (store) => {
      for (const [setting, , expected] of ofResults) expect(await valueOf(store, setting)).toBe(expected);
    });
  }
  expect(await problemsOf(databaseUrl)).toEqual([]);
});

test('migrates a database with these settings, and leaves every object as it should be', async () => {
  const { databaseUrl, set, run } = await emptyDatabase();
  for (const [setting, value] of ofResults) await set(`${setting} = ${value}`);
  await migrate(databaseUrl, testService);
  expect(await problemsOf(databaseUrl)).toEqual([]);
  // With backslashes as escapes, migration 0005 would not find these tables.
  expect(
    await run(`select relname from pg_class where relowner = 'webhook_worker'::regrole and relname like 'webhook%'`),
  ).toEqual([]);
});

test('builds an index in a database whose transactions keep a snapshot', async () => {
  const { databaseUrl, set, run } = await emptyDatabase();
  await run('create table account (name text)');
  await set(`default_transaction_isolation = 'repeatable read'`);
  const sql = '-- no transaction\ncreate index concurrently if not exists account_by_name on account (name);\n';
  expect(
    await applyMigrations(databaseUrl, [{ name: '0001-index', checksum: 'x', sql }], { waitMs: 2_000 }),
  ).toMatchObject({
    applied: ['0001-index'],
  });
});

test('migrates where statements and idle transactions have little time', async () => {
  const { databaseUrl, set, run } = await emptyDatabase();
  const timeouts = ['statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'];
  // The last one is unknown before PostgreSQL 17.
  const known = await run(`select name from pg_settings where name in ('${timeouts.join(`', '`)}')`);
  for (const { name } of known) await set(`${name} = 50`);
  const sql = 'select pg_sleep(0.2)';
  expect(await applyMigrations(databaseUrl, [{ name: '0001-slow', checksum: 'x', sql }], {})).toMatchObject({
    applied: ['0001-slow'],
  });
});

describe('behind a transaction pooler', () => {
  test('sets three of them', async () => {
    const { databaseUrl, set } = await migratedDatabase();
    const settable = ofResults.slice(0, 3);
    for (const [setting, value] of settable) await set(`${setting} = ${value}`);
    await withStore(
      databaseUrl,
      async (store) => {
        for (const [setting, , expected] of settable)
          expect([setting, await valueOf(store, setting)]).toEqual([setting, expected]);
        expect(await describeDatabaseProblems(store, testService, 'supplier_api')).toEqual([]);
      },
      pooled,
    );
  });

  test('names the others, and the remedy', async () => {
    const { databaseUrl, set, name, run } = await migratedDatabase();
    for (const [setting, value, wanted] of ofResults.slice(3)) {
      await set(`${setting} = ${value}`);
      const [problem = ''] = await problemsOf(databaseUrl, pooled);
      const [found, remedy = ''] = problem.split('; it is set for the database; run: ');
      expect(found).toBe(`the setting ${setting} is "${value.replaceAll(`'`, '')}", but must be "${wanted}"`);
      expect(remedy.replaceAll('"', '')).toBe(`alter database ${name} reset ${setting}`);
      await run(remedy);
      expect(await problemsOf(databaseUrl, pooled)).toEqual([]);
    }
  });

  test('names where a login has a setting', async () => {
    const { databaseUrl, urlFor, run, name } = await migratedDatabase();
    const loginUrl = await urlFor('supplier_api');
    const login = new URL(loginUrl).username;
    const found = () => problemsOf(loginUrl, pooled);
    await run(`alter role "${login}" set array_nulls = off`);
    expect(await found()).toEqual([
      expect.stringMatching(/it is set for the login; run: alter role \S+ reset array_nulls$/),
    ]);
    await run(
      `alter role "${login}" reset array_nulls; alter role "${login}" in database "${name}" set array_nulls = off`,
    );
    expect(await found()).toEqual([
      expect.stringMatching(/for the login in this database; run: alter role \S+ in database \S+ reset array_nulls$/),
    ]);
    expect(await problemsOf(`${databaseUrl}?options=-c%20array_nulls=off`, pooled)).toEqual([
      expect.stringMatching(/it is set by PGOPTIONS or by `options` of the URL; remove it there$/),
    ]);
  });
});

test('names a database whose triggers are off', async () => {
  const { databaseUrl, set } = await migratedDatabase();
  await set('session_replication_role = replica');
  const problem = expect.stringMatching(
    /^the setting session_replication_role is "replica", but must be "origin"; it is set for the database; run: alter database /,
  );
  expect(await problemsOf(databaseUrl)).toEqual([problem]);
  await expect(migrate(databaseUrl, testService)).rejects.toThrow('the setting session_replication_role is "replica"');
});

test('names the setting of a read-only database, in which an operator can read', async () => {
  const { databaseUrl, set } = await migratedDatabase();
  await set('default_transaction_read_only = on');
  const message = `the setting default_transaction_read_only is "on", but must be "off"; it is set for the database; on the new side of a split, run \`cell split activate\`; elsewhere, run: alter database`;
  expect(await problemsOf(databaseUrl)).toEqual([expect.stringContaining(message)]);
  await expect(migrate(databaseUrl, testService)).rejects.toThrow(`Nothing was migrated: ${message}`);
  await withStore(databaseUrl, async (store) => {
    expect(await findDatabaseProblems(store, testService, 'operator')).toEqual([]);
    await expect(
      store.transaction((transaction) => transaction.query({ name: 'write', text: 'delete from customer_order' }, [])),
    ).rejects.toThrow('The database is read-only.');
  });
});

describe('the schema', () => {
  test.each([
    [
      'pg_catalog',
      'tables would be created in the schema pg_catalog, which belongs to PostgreSQL; set DATABASE_SCHEMA',
    ],
    ['nowhere', 'the search path of the login names no schema that exists and that it may use; set DATABASE_SCHEMA'],
  ])('is refused before the first statement if search_path is %s', async (path, message) => {
    const { databaseUrl, set } = await emptyDatabase();
    await set(`search_path = ${path}`);
    await expect(migrate(databaseUrl, testService)).rejects.toThrow(`Nothing was migrated: ${message}`);
  });

  test('is named if search_path no longer leads to the tables', async () => {
    const { databaseUrl, set, run } = await migratedDatabase();
    await run('create schema other');
    await set('search_path = other');
    const message = 'the tables are in the schema public, but search_path is other, which does not contain';
    expect(await problemsOf(databaseUrl)).toEqual([expect.stringContaining(message)]);
    await expect(migrate(databaseUrl, testService)).rejects.toThrow(
      'the tables are in the schema public, which the search path of the login does not contain; set DATABASE_SCHEMA=public',
    );
    await set('search_path = other, public');
    expect(await problemsOf(databaseUrl)).toEqual([]);
    expect(await migrate(databaseUrl, testService)).toMatchObject({ applied: [] });
    expect(await run(`select from pg_class where relnamespace = 'other'::regnamespace`)).toEqual([]);
  });
});

test.each(['LATIN1', 'SQL_ASCII'])(
  'refuses a new database with the encoding %s before the first statement',
  async (encoding) => {
    const { databaseUrl, name, run } = await emptyDatabase();
    await run(`create database "${name}_encoded" encoding '${encoding}' locale 'C' template template0`);
    onTestFinished(async () => void (await run(`drop database "${name}_encoded" with (force)`)));
    const encoded = new URL(databaseUrl);
    encoded.pathname = `${name}_encoded`;
    const message = `the encoding of the database is ${encoding}, but must be UTF8; create another one: create database`;
    await expect(migrate(encoded.href, testService)).rejects.toThrow(`Nothing was migrated: ${message}`);
    expect(await problemsOf(encoded.href)).toEqual([expect.stringContaining(message)]);
  },
);

// The group roles of the test server belong to its superuser.
test('a login that is no superuser needs the rights to grant the role of the worker, and to create tables also for others', async () => {
  const database = await emptyDatabase();
  const { login, url } = await loginOf(database);
  const problemsOfMigrations = (grantOption: string, choice: string) => [
    [
      `the login lacks the right to create${grantOption} in the schema public; run as its owner`,
      `grant create on schema public to ${login}${grantOption}`,
    ],
    [
      `the cluster has the role webhook_worker already, where it belongs to OTHERS, and ${login} may not grant it; ${choice}run as a superuser, or as the login that created it`,
      `grant webhook_worker to ${login} with admin option`,
    ],
  ];
  const [version] = await database.run(`select current_setting('server_version_num')::int as number`);
  const other = await migratedDatabase();
  const expectProblems = async (migrating: Promise<unknown>, remedies: readonly string[][]): Promise<void> => {
    // Until PostgreSQL 15, who may create roles may grant any.
    const problems = version?.number < 160_000 ? remedies.slice(0, 1) : remedies;
    const message = String(await migrating.catch((error: unknown) => error));
    const others = / belongs to ((?:\w+, )+)and /.exec(message)?.[1] ?? '';
    expect(version?.number < 160_000 || others.split(', ').includes(other.name)).toBe(true);
    expect(message.replace(others, 'OTHERS, ')).toBe(
      `UnsuitableDatabaseError: Nothing was migrated: ${problems.map((problem) => problem.join(': ')).join('. ')}.`,
    );
  };
  await expectProblems(
    migrate(url, testService),
    problemsOfMigrations('', 'choose other names with --role-prefix, or '),
  );
  // As far as what is granted to the worker. The first migrations grant the right to create tables.
  const migrations = (await readMigrations()).slice(0, 5);
  const remedies = problemsOfMigrations(' with grant option', '');
  await expectProblems(applyMigrations(url, migrations, {}), remedies);
  for (const [, remedy = ''] of remedies) await database.run(remedy);
  expect((await applyMigrations(url, migrations, {})).applied).toHaveLength(5);
  await database.run(`drop owned by "${login}" cascade; drop role "${login}"`);
});

// Its roles would have the logins of another database of the cluster.
test('a login that may not create roles begins with a baseline, without roles and not with those of another database', async () => {
  const database = await emptyDatabase();
  const { login, url } = await loginOf(database);
  await database.run(`alter role ${login} nocreaterole; grant create on schema public to ${login}`);
  const sql = `create table own (prefix text default current_setting('deedwire.role_prefix'))`;
  const baseline = [{ name: '0001-baseline', checksum: 'x', isBaseline: true, sql }];
  await expect(applyMigrations(url, baseline, {})).rejects.toThrow(
    /: the cluster has the role webhook_worker already\S* .*; choose other names with --role-prefix, or run as a superuser, .*: grant webhook_worker to /,
  );
  const migrated = await applyMigrations(url, baseline, { rolePrefix: 'absent_' });
  expect(migrated).toMatchObject({ applied: ['0001-baseline'] });
  await database.run(`drop owned by "${login}" cascade; drop role "${login}"`);
});

describe('changes that can be lost', () => {
  test('are named with the settings of the server and of the database', async () => {
    const { databaseUrl, set } = await migratedDatabase();
    // The server of the tests does not flush.
    const ofServer = [
      'PostgreSQL has fsync=off: a crash of its machine loses acknowledged changes and can damage the database',
      'PostgreSQL has full_page_writes=off: a crash of its machine can damage the database, unless its file system writes whole pages',
    ];
    expect(await risksOf(databaseUrl)).toEqual(ofServer);
    await set('synchronous_commit = local');
    expect(await risksOf(databaseUrl)).toEqual(ofServer);
    await set('synchronous_commit = off');
    expect(await risksOf(databaseUrl)).toEqual([
      ...ofServer,
      'PostgreSQL has synchronous_commit=off: a crash of the server loses changes that it has acknowledged; transactions of the apps set it to on',
    ]);
  });

  test.each([
    ['on a direct connection', {}],
    ['behind a transaction pooler', pooled],
  ])('are not lost by transactions although synchronous_commit is off, %s', async (_, options) => {
    const { databaseUrl, set, run } = await migratedDatabase();
    const setting = 'synchronous_commit';
    await set(`${setting} = off`);
    await withStore(
      databaseUrl,
      async (store) => {
        expect(await store.transaction((transaction) => valueOf(transaction, setting))).toBe('on');
        expect(await written(store, run)).toEqual([{ value: 'on' }]);
        expect(await valueOf(store, setting)).toBe(options === pooled ? 'off' : 'on');
      },
      options,
    );
  });

  test('are no reason to change another value of synchronous_commit', async () => {
    const { databaseUrl, set } = await migratedDatabase();
    await set('synchronous_commit = remote_apply');
    for (const options of [{}, pooled]) {
      const read = withStore(
        databaseUrl,
        (store) => store.transaction((transaction) => valueOf(transaction, 'synchronous_commit')),
        options,
      );
      expect(await read).toBe('remote_apply');
    }
  });
});
