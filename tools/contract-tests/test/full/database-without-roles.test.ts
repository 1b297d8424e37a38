import { testService } from '@deedwire/core/test-service';
import { callOperator, startTestSystem } from '@deedwire/dev-environment/harness';
import { startPostgres, withClient } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import { eventually, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { subscribe } from '../support/subscribe.ts';

// In a cluster without a role of the apps, for an owner that may not create one.

const place = { schema: 'deedwire', rolePrefix: 'shop_' };
const server = await startPostgres();
const ownerUrl = Object.assign(new URL(server.url), { username: 'shop', password: 'p' }).href;
const told: string[] = [];

async function apply(): Promise<void> {
  await withClient(server.url, (client) =>
    client.query(`create role shop login password 'p'; alter database postgres owner to shop`),
  );
  await migrate(ownerUrl, testService, { ...place, onAbsentRoles: (consequences) => told.push(consequences) });
}

const system = await forFile(startTestSystem({ server: { ...server, ownerUrl, place }, apply }));
const receiver = await forFile(startReceiver());
const operate = (...given: string[]) =>
  callOperator(
    { DATABASE_URL: ownerUrl, DATABASE_SCHEMA: place.schema, PORTAL_ORIGIN: 'https://portal.example' },
    ...given,
  );

test('the apps deliver, and register what they are and what clients use', async () => {
  expect(await system.sql(`select rolname from pg_roles where rolname ~ '_api$|^(webhook_worker|operator)$'`)).toEqual(
    [],
  );
  await subscribe(system.customer, { callbackUrl: receiver.url, eventTypes: [{ type: 'order.placed' }] });
  await system.place(2);
  await receiver.waitFor(2);
  await operate('organization', 'create', '--name', 'New shop');
  expect((await system.sql('select distinct app from app_process order by app')).map(({ app }) => app)).toEqual([
    'customer-api',
    'operator-cli',
    'supplier-api',
    'webhook-worker',
  ]);
  await system.system.apps['customer-api'].stop();
  await eventually(async () =>
    expect(await system.sql('select distinct interface::text from interface_use')).toEqual([{ interface: 'customer' }]),
  );
});

test('an operator creates links of the portal, and reads that nothing is wrong and what is not limited', async () => {
  const link = await operate('portal', 'link', '--account', system.accounts.supplier.id);
  expect(link).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('https://portal.example') });
  expect(await operate('database', 'check')).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining(
      'warning: the database has no roles shop_customer_api, shop_supplier_api, shop_webhook_worker, shop_operator, so',
    ),
  });
  expect(await operate('database', 'logins')).toEqual({
    exitCode: 0,
    stdout: ['customer-api', 'supplier-api', 'webhook-worker', 'operator-cli']
      .map(
        (app) =>
          `-- ${app}: the database has no role for it, so it needs the login of the owner and DATABASE_SCHEMA=deedwire\n`,
      )
      .join(''),
    stderr: '',
  });
  expect(await operate('database', 'migrate')).toEqual({
    exitCode: 0,
    stdout: 'Nothing to apply\n',
    stderr: expect.stringMatching(/^the database has no roles [^\n]*\n$/),
  });
});
