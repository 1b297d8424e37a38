import { setTimeout as sleep } from 'node:timers/promises';
import { createHarness, type TestAccount } from '@deedwire/dev-environment/firm-harness';
import { connect, postGraphql, startTcpProxy } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const harness = await forFile(createHarness());
const proxy = await forFile(startTcpProxy(await harness.database.urlFor('partner_api')));

test('starts while the database is unavailable, becomes ready once it is reachable, and survives the next failure', async () => {
  await proxy.close();
  const service = await harness.startPartnerApi({ DATABASE_URL: proxy.url });
  const { partner, lender } = harness.accounts;
  const readAs = (account: TestAccount) =>
    postGraphql(`${service.url}/partners/graphql`, account.credential, { query: '{ partner { name } }' });
  const read = () => readAs(partner);
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
    data: { partner: { name: 'Keystone Estate Agents' } },
    extensions: expect.any(Object),
  });

  await proxy.close();
  // The key is still cached, so the resolver runs and finds the database unavailable.
  expect(await unavailable()).toEqual([503, '5', 'SERVICE_UNAVAILABLE', false]);
  await sleep(1000); // until the key leaves the cache
  expect(await unavailable()).toEqual([503, '5', 'SERVICE_UNAVAILABLE', false]);
  expect((await readAs(lender)).status).toBe(403);
  expect(await ready()).toEqual([200, { ready: true, problems: [] }]);

  await proxy.open();
  await expect.poll(async () => (await read()).status).toBe(200);
});

test('is not ready with the login of another app, says which role it needs, and becomes ready once it has it', async () => {
  const databaseUrl = await harness.database.urlFor('lender_api');
  const login = new URL(databaseUrl).username;
  const service = await harness.startPartnerApi({ DATABASE_URL: databaseUrl });
  const ready = async () => (await fetch(`${service.adminUrl}/ready`)).json();
  const grant = `grant partner_api to ${login}`;
  const problem = `the login ${login} is not in the group role partner_api of this app; run: ${grant}`;
  await expect.poll(ready).toEqual({ ready: false, problems: [problem] });
  const superuser = await connect(harness.database.databaseUrl);
  await superuser.run(grant);
  await service.whenReady;
  await superuser.run(`revoke partner_api from ${login}`);
  await superuser.close();
});
