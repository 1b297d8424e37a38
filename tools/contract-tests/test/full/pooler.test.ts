import { randomBytes, randomUUID } from 'node:crypto';
import { startApp } from '@deedwire/dev-environment';
import { createHarness, type Harness, startSystem, urlsOfApps } from '@deedwire/dev-environment/harness';
import { enableTls, startPostgres } from '@deedwire/embedded-postgres';
import { createClient, findProgram, postGraphql, startReceiver } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type PgBouncer, startPgBouncer } from '../support/proxies/pgbouncer.ts';
import { subscribe } from '../support/subscribe.ts';
import { PlaceDocument } from '../support/webhook-operations.ts';

const isWithoutPgBouncer = findProgram('pgbouncer') === undefined && process.env['CI'] !== 'true';

const certificate = (name: string): string =>
  new URL(`../../../../packages/store/test/certificates/${name}.pem`, import.meta.url).pathname;

type AppName = 'customer-api' | 'supplier-api' | 'webhook-worker';

const perApp = <Value>(valueOf: (name: AppName) => Value): Record<AppName, Value> => ({
  'customer-api': valueOf('customer-api'),
  'supplier-api': valueOf('supplier-api'),
  'webhook-worker': valueOf('webhook-worker'),
});

const secretKeys = `test:${randomBytes(32).toString('base64')}`;

describe.skipIf(isWithoutPgBouncer)('through PgBouncer in transaction mode', () => {
  let harness: Harness;
  let logins: Record<AppName, string>;

  beforeAll(async () => {
    const server = await startPostgres();
    await enableTls(server.url, { certificate: certificate('valid'), key: certificate('server-key') });
    harness = await createHarness(server);
    logins = await urlsOfApps(harness.database);
    await setForDatabase(`datestyle = 'German, DMY'`);
    await setForDatabase('standard_conforming_strings = off');
    await setForDatabase('synchronous_commit = off');
  });
  // Stops the server.
  afterAll(() => harness.close());

  const setForDatabase = (setting: string) =>
    harness.sql(`alter database "${new URL(harness.database.databaseUrl).pathname.slice(1)}" set ${setting}`);

  /** The apps through the pooler. */
  const startApps = (pooler: PgBouncer, envOf: (direct: string) => Record<string, string>) =>
    startSystem({
      databaseUrls: perApp((name) => pooler.urlFor(logins[name])),
      webhookSecretKeys: secretKeys,
      env: { DATABASE_TIMEOUT_MS: '20000' },
      appEnv: perApp((name) => envOf(logins[name])),
    });

  // `test/long` runs all contract tests with and without a direct connection.
  test('the apps answer and deliver', async () => {
    const pooler = await startPgBouncer({ logins: Object.values(logins), serverCa: certificate('ca') });
    const system = await startApps(pooler, (direct) => ({
      DATABASE_DIRECT_URL: direct,
      DATABASE_PREPARED_STATEMENTS: 'off',
    }));
    const receiver = await startReceiver();
    const { supplier, customer } = harness.accounts;
    const suppliers = `${system.apps['supplier-api'].url}/supplier/graphql`;
    const client = createClient(`${system.apps['customer-api'].url}/customer/graphql`, customer.credential);
    try {
      const read = () =>
        postGraphql(suppliers, supplier.credential, { query: '{ supplier { name } webhookListeners { id } }' });
      // Proves the key. Without, an address may send 50 requests a second.
      await read();
      const reads = await Promise.all(Array.from({ length: 60 }, read));
      expect(reads.map(({ status, body }) => [status, body.errors])).toEqual(reads.map(() => [200, undefined]));

      await subscribe(client, { callbackUrl: receiver.url, eventTypes: [{ type: 'order.placed' }] });
      const place = () => client.request(PlaceDocument, { input: { item: 'Ada', idempotencyKey: randomUUID() } });
      await Promise.all(Array.from({ length: 20 }, place));
      await receiver.waitFor(20);
      // PgBouncer accepts a verified certificate only.
      const [connections] = await harness.sql('select count(*) filter (where ssl)::int as tls from pg_stat_ssl');
      expect(connections?.['tls']).toBeGreaterThan(0);
      for (const { adminUrl } of Object.values(system.apps)) {
        const ready = await fetch(`${adminUrl}/ready`);
        expect([ready.status, await ready.json()]).toEqual([200, { ready: true, problems: [] }]);
      }
    } finally {
      await system.stop();
      await receiver.close();
      await pooler.stop();
    }
  });

  /** Starts an app, and returns what its `/ready` says. It stops after the test. */
  async function readinessOf(pooler: PgBouncer, name: AppName, env: Record<string, string>) {
    const app = await startApp({
      name,
      folder: 'tools/test-service',
      waitFor: 'listening',
      env: {
        DATABASE_URL: pooler.urlFor(logins[name]),
        DATABASE_DIRECT_URL: '',
        WEBHOOK_SECRET_KEYS: secretKeys,
        NODE_ENV: 'test',
        ADMIN_PORT: '0',
        PORT: '0',
        ...env,
      },
    });
    onTestFinished(async () => void (await app.stop()));
    return async () => (await fetch(`${app.adminUrl}/ready`)).json();
  }

  const problemOf = 'a pooler before the database';
  test.each<[AppName, string, Record<string, string>, string]>([
    [
      'supplier-api',
      'that lets settings of sessions pass',
      { ignore_startup_parameters: 'options' },
      `${problemOf} loses prepared statements; set DATABASE_PREPARED_STATEMENTS=off`,
    ],
    [
      'webhook-worker',
      'with its defaults',
      {},
      `${problemOf} refuses settings of sessions; set DATABASE_PREPARED_STATEMENTS=off`,
    ],
  ])('without a setting, %s does not become ready behind a pooler %s', async (name, _, settings, problem) => {
    const pooler = await forTest(startPgBouncer({ logins: Object.values(logins), settings }));
    const ready = await readinessOf(pooler, name, {});
    await expect.poll(ready).toEqual({ ready: false, problems: [problem] });
  });

  test('a worker does not become ready with a setting that the pooler does not keep for it', async () => {
    await setForDatabase('array_nulls = off');
    const pooler = await startPgBouncer({ logins: Object.values(logins) });
    const problem = expect.stringMatching(
      /^the setting array_nulls is "off", but must be "on"; it is set for the database; run: alter database \S+ reset array_nulls$/,
    );
    onTestFinished(() => pooler.stop());
    const ready = await readinessOf(pooler, 'webhook-worker', { DATABASE_PREPARED_STATEMENTS: 'off' });
    await expect.poll(ready).toEqual({ ready: false, problems: [problem] });
  });
});
