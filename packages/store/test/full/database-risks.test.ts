import { testService } from '@deedwire/core/test-service';
import { withClient } from '@deedwire/embedded-postgres';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type DatabaseRisk, findCertificateRisk, findDatabaseRisks, migrate } from '../../src/index.ts';
import { createServiceDatabase, withStore } from '../support/database.ts';

/** Of the server of the tests, which does not flush. */
const ofServer = ['fsync', 'full_page_writes'];

const describeAll = (risks: readonly DatabaseRisk[]) =>
  risks.filter(({ subject }) => !ofServer.includes(subject)).map(({ description }) => description);

async function open() {
  const database = await createServiceDatabase();
  onTestFinished(() => database.drop());
  const { databaseUrl } = database;
  return {
    databaseUrl,
    name: new URL(databaseUrl).pathname.slice(1),
    run: (text: string) => withClient(databaseUrl, async (client) => (await client.query(text)).rows),
    /** As an app finds them, which has few rights. */
    risks: async () => describeAll(await withStore(await database.urlFor('webhook_worker'), findDatabaseRisks)),
  };
}

describe('every table, and every partition that the worker creates,', () => {
  const database = createServiceDatabase();

  test('has a replica identity that PostgreSQL 15 to 18 accept', async () => {
    const { databaseUrl } = await forFile(database);
    const refused = await withClient(databaseUrl, async (client) => {
      await client.query('call webhook_create_partitions(100)');
      const { rows } = await client.query<{ name: string; isFull: boolean }>(`
        with generated as (select attrelid, attnum from pg_attribute where attgenerated <> '' and not attisdropped)
        select c.relname as name
        from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not (
          c.relreplident = 'f' and not exists (select from generated where attrelid = c.oid)
          or exists (
            select from pg_index i
            where i.indrelid = c.oid and i.indisvalid
              and case c.relreplident when 'd' then i.indisprimary when 'i' then i.indisreplident end
              and not exists (select from generated where attrelid = c.oid and attnum = any (i.indkey))
          )
        )
        order by name`);
      return rows.map(({ name }) => name);
    });
    expect(refused).toEqual([]);
  });
});

describe('a publication', () => {
  test.each(['for all tables', 'for tables in schema public', 'for table customer_order (id, note) where (id > 0)'])(
    '%s is no risk',
    async (tables) => {
      const { run, risks } = await open();
      await run(`create publication everything ${tables}; call webhook_create_partitions(100)`);
      expect(await risks()).toEqual([]);
    },
  );

  test.each([
    ['for all tables', 'create table later (value int)', 'later'],
    [
      'for tables in schema public',
      'create table webhook_exchange_of_no_day partition of webhook_exchange for values from (1) to (2)',
      'webhook_exchange_of_no_day',
    ],
    ['for table account (name)', '', 'account'],
    [`for table customer_order where (note = 'x')`, '', 'customer_order'],
    [`for table customer_order (id, note) where (id > 0 and note = 'x')`, '', 'customer_order'],
  ])('%s names the table whose rows it keeps from changing', async (tables, change, name) => {
    const { run, risks } = await open();
    await run(`${change}; create publication "Every thing" ${tables}`);
    expect(await risks()).toEqual([
      `the publication "Every thing" keeps PostgreSQL from updating and deleting rows of ${name}, because their replica identities are ` +
        'missing, not published, or lack columns of a row filter; run: alter publication "Every thing" set (publish = \'insert\'), or ' +
        'publish all columns and rows of tables with the replica identities that the migrations gave them',
    ]);
    await run(`alter publication "Every thing" set (publish = 'insert')`);
    expect(await risks()).toEqual([]);
  });
});

test.each([
  ['2027-01-14T12:00:00Z', []],
  [
    '2027-01-14T11:59:59Z',
    [
      'the certificate of PostgreSQL ends at 2027-01-14T11:59:59.000Z, in 13 days, after which no app that verifies it can connect; renew it, and run on the server: select pg_reload_conf()',
    ],
  ],
  [
    '2026-12-31T11:59:59Z',
    [
      'the certificate of PostgreSQL ended at 2026-12-31T11:59:59.000Z, so that no app that verifies it can connect; renew it, and run on the server: select pg_reload_conf()',
    ],
  ],
  [null, []],
])('a certificate that ends at %s is a risk on New Year’s Eve: %j', (endsAt, risks) => {
  const end = endsAt === null ? null : new Date(endsAt);
  expect(describeAll(findCertificateRisk(end, new Date('2026-12-31T12:00:00Z')))).toEqual(risks);
});

describe('a collation', () => {
  test('of the database that has changed since is named with the remedy', async () => {
    const { run, databaseUrl, name: beside } = await open();
    const name = `${beside}_icu`;
    await run(
      `create database "${name}" template template0 encoding 'UTF8' locale 'C' locale_provider icu icu_locale 'und'`,
    );
    onTestFinished(async () => void (await run(`drop database "${name}"`)));
    const url = databaseUrl.replace(beside, name);
    await migrate(url, testService);
    const risks = async () => describeAll(await withStore(url, findDatabaseRisks));
    expect(await risks()).toEqual([]);
    const [{ actual } = {}] = await run(
      `update pg_database set datcollversion = '1.0' where datname = '${name}' returning pg_database_collation_actual_version(oid) as actual`,
    );
    const description =
      `the library of the server has version ${actual} of the collation of the database "${name}", but indexes were built with ` +
      `version 1.0, so that they can miss rows and accept duplicates; run: reindex database concurrently "${name}"; alter database "${name}" refresh collation version`;
    expect(await risks()).toEqual([description]);
    await run(`alter database "${name}" refresh collation version`);
    expect(await risks()).toEqual([]);
  });

  test('of an index that has changed since is named with the remedy', async () => {
    const { run, risks, name } = await open();
    await run(`create index order_by_note on customer_order (note collate "und-x-icu")`);
    expect(await risks()).toEqual([]);
    const [{ actual } = {}] = await run(
      `update pg_collation set collversion = '1.0' where collname = 'und-x-icu' returning pg_collation_actual_version(oid) as actual`,
    );
    const description =
      `the library of the server has version ${actual} of the collation "und-x-icu", but indexes were built with version 1.0, so that ` +
      `they can miss rows and accept duplicates; run: reindex database concurrently "${name}"; alter collation "und-x-icu" refresh version`;
    expect(await risks()).toEqual([description]);
    await run('alter collation "und-x-icu" refresh version');
    expect(await risks()).toEqual([]);
  });
});
