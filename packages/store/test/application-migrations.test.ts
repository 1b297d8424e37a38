import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineService, type ServiceOptions } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { connect, runOnce } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import { applyMigrations, findUnregistered, groupRolesOf, migrate, readMigrations } from '../src/index.ts';
import { createPlatformDatabase, createServiceDatabase, withStore } from './support/database.ts';

const folder = join(await mkdtemp(join(tmpdir(), 'migrations-')), 'of shop');
await forFile({ close: () => rm(join(folder, '..'), { recursive: true }) });

const shopWith = (options: Partial<ServiceOptions> = {}) =>
  defineService({
    names: testService.names,
    interfaces: { customer: { title: 'Customer', account: 'Customer' } },
    migrations: pathToFileURL(folder),
    ...options,
  });
const shop = shopWith();

/** Replaces the files of the folder. */
async function write(files: Readonly<Record<string, string>>): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const [name, sql] of Object.entries(files)) await writeFile(join(folder, `${name}.sql`), sql);
}

const create = (table: string) => `create table ${table} (id bigint primary key)`;

describe('a new database', () => {
  test('gets the interfaces of its service before the migrations of the application, each once', async () => {
    const { databaseUrl } = await forTest(createPlatformDatabase());
    await write({
      '0001-orders': `create table customer_order (
        id bigint primary key default new_record_id(), account_id bigint not null,
        interface interface_name not null default 'supply-chain');
        select own_table('customer_order', 'supply-chain', 'select')`,
      '0002-invoices': create('invoice'),
    });
    const service = shopWith({
      interfaces: {
        customer: { title: 'Customer', account: 'Customer' },
        'supply-chain': { title: 'Supply chain', account: 'Supplier' },
      },
      tables: { customer_order: {} },
    });
    const migrated = await Promise.all([migrate(databaseUrl, service), migrate(databaseUrl, service)]);
    const all = (key: 'addedInterfaces' | 'appliedOfApplication') => migrated.flatMap((each) => each[key]);
    expect(all('addedInterfaces').toSorted()).toEqual(['customer', 'supply-chain']);
    expect(all('appliedOfApplication').toSorted()).toEqual(['0001-orders', '0002-invoices']);
    expect(await migrate(databaseUrl, service)).toMatchObject({
      applied: [],
      addedInterfaces: [],
      appliedOfApplication: [],
    });
  });
});

describe('a database', async () => {
  const database = await forFile(createServiceDatabase());
  const owner = await forFile(connect(database.databaseUrl));
  const apply = async (service = shop) => (await migrate(database.databaseUrl, service)).appliedOfApplication;
  const problems = async (role = 'customer_api') =>
    withStore(await database.urlFor(role), (store) => findUnregistered(store, shop));
  const tables = async () =>
    (await owner.run(`select relname from pg_class where relname ~ '^t[0-9]$' and relkind = 'r' order by relname`)).map(
      ({ relname }) => relname,
    );

  beforeEach(async () => {
    await owner.run('delete from app_migration; drop table if exists t1, t2, t3');
  });

  test('knows the events of an interface that it got with them', async () => {
    expect(await owner.run(`select interfaces::text[] from event_type where type = 'order.placed'`)).toEqual([
      { interfaces: ['customer'] },
    ]);
  });

  test('lacks a migration until `migrate` applies it, for each app', async () => {
    await write({ '0001-t1': create('t1'), '0002-t2': create('t2') });
    const lacking = [
      'the database lacks migrations of the application: 0001-t1, 0002-t2; run: deedwire-operator database migrate',
    ];
    for (const role of groupRolesOf(testService)) expect(await problems(role)).toEqual(lacking);
    expect(await apply()).toEqual(['0001-t1', '0002-t2']);
    expect(await problems()).toEqual([]);
  });

  test('continues with an earlier release of the application, unless a migration needs a later one', async () => {
    await write({ '0001-t1': create('t1'), '0002-t2': create('t2'), '0003-drop-needs-0002': 'drop table t1' });
    await apply();
    await write({ '0001-t1': create('t1'), '0002-t2': create('t2') });
    expect(await apply()).toEqual([]);
    expect(await problems()).toEqual([]);
    await write({ '0001-t1': create('t1') });
    expect(await problems()).toEqual([
      'this application is too old for the database, to which 0003-drop-needs-0002 was applied; deploy a later release of it',
    ]);
  });

  test.each([
    [
      'changed',
      { '0002-t2': `${create('t2')};` },
      /^migration 0002-t2 of the application was applied .* Restore the file/i,
    ],
    ['without an earlier file', { '0003-t3': create('t3') }, /^migration 0002-t2 of the application was applied/i],
    [
      'with a file between those that were applied',
      { '0001-t1': create('t1'), '0002-t2': create('t2') },
      /lacks 0001-t1 of the application although 0002-t2/,
    ],
  ])('refuses a folder %s', async (_, files, message) => {
    await write({ '0002-t2': create('t2') });
    await apply();
    await write(files);
    await expect(apply()).rejects.toThrow(message);
    expect(await problems()).toEqual([expect.stringMatching(message)]);
    expect(await tables()).toEqual(['t2']);
  });

  test.each(['0110-baseline', '9999-later', '0001-unknown'])('refuses a file that replaces %s', async (replaced) => {
    await write({ '0001-t1': create('t1'), '0002-t2': `-- replaces ${replaced} of the platform\n${create('t2')}` });
    await expect(apply()).rejects.toThrow(
      `Migration 0002-t2 of the application failed: it replaces ${replaced} of the platform, which is no migration before 0110-baseline.`,
    );
    expect(await tables()).toEqual([]);
  });

  test('keeps what was applied before a migration that fails, and nothing of it', async () => {
    await write({
      '0001-t1': create('t1'),
      '0002-t2': `${create('t2')};\n\ninsert into t2 values ('x');`,
      '0003-t3': create('t3'),
    });
    await expect(apply()).rejects.toThrow(
      'Migration 0002-t2 of the application failed: invalid input syntax for type bigint: "x", at line 3. Nothing of it was applied.',
    );
    expect(await tables()).toEqual(['t1']);
    await write({ '0001-t1': create('t1'), '0002-t2': create('t2'), '0003-t3': create('t3') });
    expect(await apply()).toEqual(['0002-t2', '0003-t3']);
  });

  test.each(['commit', 'rollback', 'commit; begin'])(
    'refuses a migration with %s, and records nothing of it',
    async (end) => {
      await write({ '0001-t1': `${create('t1')}; ${end}` });
      await expect(apply()).rejects.toThrow(
        'Migration 0001-t1 of the application failed: it ends the transaction in which it runs.',
      );
      expect(await owner.run('select from app_migration')).toEqual([]);
    },
  );

  test('does not say that nothing was applied of a migration that committed before it failed', async () => {
    await write({ '0001-t1': `${create('t1')};\ncommit;\ninsert into t1 values ('x')` });
    await expect(apply()).rejects.toThrow(/type bigint: "x", at line 3\. It may have been applied in part\.$/);
    expect(await tables()).toEqual(['t1']);
  });

  test('takes the settings of a dump, which end with the migration', async () => {
    await write({
      '0001-t1': `select pg_catalog.set_config('search_path', '', false); create table public.t1 (id bigint); set session authorization webhook_worker`,
      '0002-t2': create('t2'),
    });
    expect(await apply()).toEqual(['0001-t1', '0002-t2']);
    expect(await tables()).toEqual(['t1', 't2']);
  });

  test('builds an index of the application while its table is written', async () => {
    await write({
      '0001-t1': create('t1'),
      '0002-index': '-- no transaction\ncreate index concurrently if not exists order_by_id on customer_order (id);\n',
    });
    expect(await apply()).toEqual(['0001-t1', '0002-index']);
    expect(await owner.run(`select indisvalid from pg_index where indexrelid = 'order_by_id'::regclass`)).toEqual([
      { indisvalid: true },
    ]);
  });

  test('has a migration recorded and not run that one of the platform has replaced, and runs it if it began with the baseline', async () => {
    const older = await forTest(
      createTestDatabase({
        template: 'older',
        async prepare(url) {
          const chain = (await readMigrations()).filter(({ isBaseline }) => !isBaseline);
          await applyMigrations(url, chain, {});
        },
      }),
    );
    await write({
      '0001-t1': `-- replaces 0001-accounts-and-credentials of the platform\n${create('t1')}`,
      '0002-t2': create('t2'),
    });
    expect(await migrate(older.databaseUrl, shop)).toMatchObject({ appliedOfApplication: ['0002-t2'] });
    expect(await runOnce(older.databaseUrl, 'select name from app_migration order by name')).toEqual([
      { name: '0001-t1' },
      { name: '0002-t2' },
    ]);
    expect(await withStore(older.databaseUrl, (store) => findUnregistered(store, shop))).toEqual([]);
    expect(await migrate(older.databaseUrl, shop)).toMatchObject({ appliedOfApplication: [] });
    expect(await apply()).toEqual(['0001-t1', '0002-t2']);
  });

  test('can have a migration of the application with the name of one of the platform', async () => {
    const [first] = await readMigrations();
    await write({ [first?.name ?? '']: create('t1') });
    expect(await apply()).toEqual([first?.name]);
  });

  test('says which folder is missing', async () => {
    await rm(folder, { recursive: true });
    await expect(apply()).rejects.toThrow(`The folder of migrations ${folder} cannot be read.`);
  });
});
