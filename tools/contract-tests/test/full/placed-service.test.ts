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
const place = { schema: 'deedwire', rolePrefix: 'shop_' };
const chosen = ['--schema', place.schema, '--role-prefix', place.rolePrefix];
const migrated = await callOperator(owner, 'database', 'migrate', ...chosen);
const harness = await forFile(createHarness({ ...server, place }));

/** The URLs of the logins that the command prints, by the names of the apps. */
async function printedUrls(): Promise<Map<string, string>> {
  const { stdout } = await callOperator({ ...owner, DATABASE_SCHEMA: place.schema }, 'database', 'logins');
  await run(stdout);
  return new Map(
    Array.from(stdout.matchAll(/^-- (\S+): DATABASE_URL=(\S+)$/gm), ([, app = '', url = '']) => [app, url]),
  );
}

test('the command creates the schema and the roles, and a repeated run keeps them', async () => {
  expect(migrated).toMatchObject({ exitCode: 0, stderr: '' });
  const env = { ...owner, DATABASE_SCHEMA: place.schema };
  expect(await callOperator(env, 'database', 'migrate')).toMatchObject({ stdout: 'Nothing to apply\n' });
  expect(await callOperator(owner, 'database', 'migrate')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('set DATABASE_SCHEMA=deedwire'),
  });
  const { rows } = await run(`select relname from pg_class where relnamespace = 'public'::regnamespace order by 1`);
  expect(rows).toEqual([{ relname: 'account' }, { relname: 'webhook_event' }]);
});

test('the apps answer, and deliver, with the printed logins', async () => {
  const urls = await printedUrls();
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

  const operator = { DATABASE_URL: urlOf('operator-cli') };
  expect(await callOperator(operator, 'database', 'check')).toMatchObject({ exitCode: 0 });
  expect(await callOperator(operator, 'organization', 'list')).toMatchObject({ exitCode: 0, stderr: '' });
  const { rows } = await run('select email from account');
  expect(rows).toEqual([{ email: 'ada@shop.test' }]);
});
