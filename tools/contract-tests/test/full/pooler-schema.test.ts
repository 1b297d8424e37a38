import { testService } from '@deedwire/core/test-service';
import { createTestDatabase, withClient } from '@deedwire/embedded-postgres';
import { createLoginSql, createStore, describeDatabaseProblems, type Store, withSchema } from '@deedwire/store';
import { findProgram } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { startPgBouncer } from '../support/proxies/pgbouncer.ts';

const isWithoutPgBouncer = findProgram('pgbouncer') === undefined && process.env['CI'] !== 'true';

describe.skipIf(isWithoutPgBouncer)('a schema behind PgBouncer in transaction mode', async () => {
  const database = await forFile(createTestDatabase({ template: 'empty', prepare: async () => {} }));
  const name = new URL(database.databaseUrl).pathname.slice(1);
  const app = `${name}_app`;
  const application = `${name}_application`;
  const run = (text: string) => withClient(database.databaseUrl, (client) => client.query(text));
  await run(`
    create role "${name}_role"; create role "${application}" login password 'secret';
    create table account (owner text); insert into account values ('application');
    create schema deedwire;
    create table deedwire.schema_migration (); create table deedwire.installation ();
    create table deedwire.account (owner text); insert into deedwire.account values ('platform');
    grant usage on schema deedwire to "${name}_role"; grant select on all tables in schema deedwire to "${name}_role", "${application}";
    grant usage on schema deedwire to "${application}"; grant select on account to "${application}", "${name}_role";
    ${createLoginSql(app, 'secret', `"${name}_role"`, { database: name, schema: 'deedwire', rolePrefix: 'shop_' })}`);
  await forFile(
    Promise.resolve({
      close: () =>
        run(`drop owned by "${name}_role", "${application}"; drop role "${app}", "${application}", "${name}_role"`),
    }),
  );
  const urlOf = (login: string): string => {
    const url = new URL(database.databaseUrl);
    [url.username, url.password] = [login, 'secret'];
    return url.href;
  };
  const logins = [urlOf(app), urlOf(application)];
  const find = { name: 'find-owner', text: 'select owner from account' };

  /** Whose table a store finds through the pooler: outside and inside of a transaction. */
  const foundBy = async (store: Store): Promise<unknown[]> => [
    ...(await store.query(find, [])),
    ...(await store.transaction((transaction) => transaction.query(find, []))),
  ];

  test.each([
    ['keeps sessions of the server', {}],
    ['discards settings of sessions', { server_reset_query: 'DISCARD ALL', server_reset_query_always: '1' }],
  ])('the printed login finds the tables, and an application its own, if it %s', async (_, settings) => {
    const pooler = await forTest(startPgBouncer({ logins, settings: { default_pool_size: '1', ...settings } }));
    const open = (login: string) =>
      forTest(createStore({ databaseUrl: pooler.urlFor(urlOf(login)), prepares: false, applicationName: 'test' }));
    const [ofApp, ofApplication] = [await open(app), await open(application)];
    for (let count = 0; count < 2; count += 1) {
      expect(await foundBy(ofApp)).toEqual([{ owner: 'platform' }, { owner: 'platform' }]);
      expect(await foundBy(ofApplication)).toEqual([{ owner: 'application' }, { owner: 'application' }]);
    }
  });

  const unset =
    'for a direct connection set DATABASE_SCHEMA=deedwire, and behind a transaction pooler let this app have';

  test.each([
    ['refused', {}, 'a pooler before the database refuses settings of sessions; set DATABASE_PREPARED_STATEMENTS=off'],
    ['lost', { ignore_startup_parameters: 'options' }, unset],
  ])(
    'DATABASE_SCHEMA is %s, so that an app with the login of an application stays unready',
    async (_, settings, problem) => {
      const pooler = await forTest(startPgBouncer({ logins, settings }));
      const databaseUrl = pooler.urlFor(withSchema(urlOf(application), 'deedwire'));
      const store = await forTest(createStore({ databaseUrl, prepares: false, applicationName: 'test' }));
      expect(await describeDatabaseProblems(store, testService, 'supplier_api')).toEqual([
        expect.stringContaining(problem),
      ]);
    },
  );
});
