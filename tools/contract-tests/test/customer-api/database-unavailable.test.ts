import { setTimeout as sleep } from 'node:timers/promises';
import { createHarness, type TestAccount } from '@deedwire/dev-environment/harness';
import { connect, postGraphql, startTcpProxy } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const harness = await forFile(createHarness());
const proxy = await forFile(startTcpProxy(await harness.database.urlFor('customer_api')));

test('starts while the database is unavailable, becomes ready once it is reachable, and survives the next failure', async () => {
  await proxy.close();
  const service = await harness.startApi('customer', { DATABASE_URL: proxy.url });
  const { customer, supplier } = harness.accounts;
  const readAs = (account: TestAccount) =>
    postGraphql(`${service.url}/customer/graphql`, account.credential, { query: '{ customer { name } }' });
  const read = () => readAs(customer);
  const ready = async () => {
    const response = await fetch(`${service.adminUrl}/ready`);
    return [response.status, await response.json()];
  };
  const unavailable = async () => {
    const { status, headers, body } = await read();
    return [status, headers.get('retry-after'), body.errors?.[0]?.extensions.code, 'data' in body];
  };

  expect((await fetch(`${service.adminUrl}/health`)).status).toBe(200);
  await expect.poll(ready).toEqual([503, { ready: false, problems: ['the database is not available: ECONNREFUSED'] }]);
  expect(await unavailable()).toEqual([503, '5', 'SERVICE_UNAVAILABLE', false]);

  await proxy.open();
  await service.whenReady;
  expect((await read()).body).toEqual({
    data: { customer: { name: 'Customer One' } },
    extensions: expect.any(Object),
  });

  await proxy.close();
  // The key is still cached, so the resolver runs and finds the database unavailable.
  expect(await unavailable()).toEqual([503, '5', 'SERVICE_UNAVAILABLE', false]);
  await sleep(1000); // until the key leaves the cache
  expect(await unavailable()).toEqual([503, '5', 'SERVICE_UNAVAILABLE', false]);
  expect((await readAs(supplier)).status).toBe(403);
  expect(await ready()).toEqual([200, { ready: true, problems: [] }]);

  await proxy.open();
  await expect.poll(async () => (await read()).status).toBe(200);
});

test('is not ready with the login of another app, says which role it needs, and becomes ready once it has it', async () => {
  const databaseUrl = await harness.database.urlFor('supplier_api');
  const login = new URL(databaseUrl).username;
  const service = await harness.startApi('customer', { DATABASE_URL: databaseUrl });
  const ready = async () => (await fetch(`${service.adminUrl}/ready`)).json();
  const grant = `grant customer_api to ${login}`;
  const problem = `the login ${login} is not in the group role customer_api of this app; run: ${grant}`;
  await expect.poll(ready).toEqual({ ready: false, problems: [problem] });
  const superuser = await connect(harness.database.databaseUrl);
  await superuser.run(grant);
  await service.whenReady;
  await superuser.run(`revoke customer_api from ${login}`);
  await superuser.close();
});
