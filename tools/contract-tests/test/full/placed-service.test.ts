import { randomBytes, randomUUID } from 'node:crypto';
import { callOperator, createHarness, startSystem } from '@deedwire/dev-environment/harness';
import { startPostgres, withClient } from '@deedwire/embedded-postgres';
import { createClient, missing, startReceiver } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { subscribe } from '../support/subscribe.ts';
import { PlaceDocument } from '../support/webhook-operations.ts';

// The database of an application, which has tables of the same names.
const server = await startPostgres();
const owner = { DATABASE_URL: server.url };
const run = (text: string) => withClient(server.url, (client) => client.query(text));
await run(
  `create table account (email text); create table webhook_event (); insert into account values ('ada@shop.test')`,
);
const place = { schema: 'deedwire', rolePrefix: 'test_service_' };
const migrated = await callOperator(owner, 'database', 'migrate');
const harness = await forFile(createHarness({ ...server, place }));

/** The URLs of the logins that the command prints, by the names of the apps. */
async function printedUrls(): Promise<Map<string, string>> {
  const { stdout } = await callOperator(owner, 'database', 'logins');
  await run(stdout);
  return new Map(
    Array.from(stdout.matchAll(/^-- (\S+): DATABASE_URL=(\S+)$/gm), ([, app = '', url = '']) => [app, url]),
  );
}

test('the command creates the schema and the roles, and a repeated run keeps them', async () => {
  expect(migrated).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(
      /^The tables are in the schema deedwire, with roles whose names begin with test_service_\nApplied /,
    ),
    stderr: '',
  });
  const nothing = { stdout: 'Nothing to apply\n' };
  for (const env of [owner, { ...owner, DATABASE_SCHEMA: place.schema }])
    expect(await callOperator(env, 'database', 'migrate')).toMatchObject(nothing);
  expect(await callOperator(owner, 'database', 'migrate', '--role-prefix', 'test_service_')).toMatchObject(nothing);
  const { rows } = await run(`select relname from pg_class where relnamespace = 'public'::regnamespace order by 1`);
  expect(rows).toEqual([{ relname: 'account' }, { relname: 'webhook_event' }]);
});

test('the apps answer, and deliver, with the printed logins', async () => {
  const urls = await printedUrls();
  expect([...urls.values()].map((url) => new URL(url).username)).toEqual(
    ['customer_api', 'supplier_api', 'webhook_worker', 'operator'].map((role) => `postgres_${role}`),
  );
  const { stdout } = await callOperator(owner, 'database', 'logins', '--prefix', 'test_service');
  expect(stdout).toContain('create role "test_service_test_service_operator" login');
  const urlOf = (app: string): string => urls.get(app) ?? missing();
  const system = await forTest(
    startSystem({
      databaseUrls: {
        'customer-api': urlOf('customer-api'),
        'supplier-api': urlOf('supplier-api'),
        'webhook-worker': urlOf('webhook-worker'),
      },
      webhookSecretKeys: `test:${randomBytes(32).toString('base64')}`,
      // The others find the schema by their login.
      appEnv: { 'customer-api': { DATABASE_SCHEMA: place.schema }, 'supplier-api': {}, 'webhook-worker': {} },
    }),
  );
  const receiver = await forTest(startReceiver());
  const client = createClient(
    `${system.apps['customer-api'].url}/customer/graphql`,
    harness.accounts.customer.credential,
  );
  await subscribe(client, { callbackUrl: receiver.url, eventTypes: [{ type: 'order.placed' }] });
  await client.request(PlaceDocument, { input: { item: 'Ada', idempotencyKey: randomUUID() } });
  await receiver.waitFor(1);

  // The direct connection of some commands has the login of the owner, whose search path does not lead to the tables.
  const operator = { DATABASE_URL: urlOf('operator-cli'), DATABASE_DIRECT_URL: owner.DATABASE_URL };
  for (const env of [operator, owner]) {
    expect(await callOperator(env, 'database', 'check')).toMatchObject({ exitCode: 0 });
    expect(await callOperator(env, 'organization', 'list')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await callOperator(env, 'cell', 'prune', '--dry-run')).toMatchObject({ exitCode: 0, stderr: '' });
  }
  const { rows } = await run('select email from account');
  expect(rows).toEqual([{ email: 'ada@shop.test' }]);
});

test('the statements that `database check` prints are for the schema of the tables', async () => {
  await run('revoke select on deedwire.webhook_event from test_service_webhook_worker');
  await run('grant execute on routine deedwire.register_process to public');
  const { exitCode, stderr } = await callOperator(owner, 'database', 'check');
  expect(exitCode).toBe(1);
  const printed = stderr.match(/^ {2}\w+ .*;$/gm) ?? [];
  expect(printed).toEqual([
    '  grant select on "deedwire".webhook_event to test_service_webhook_worker;',
    expect.stringMatching(/^ {2}revoke execute on routine deedwire\.register_process\(.*\) from public;$/),
  ]);
  await run(printed.join('\n'));
  expect(await callOperator(owner, 'database', 'check')).toMatchObject({ exitCode: 0 });
});
