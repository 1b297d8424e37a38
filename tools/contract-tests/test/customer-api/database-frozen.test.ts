import { setTimeout as sleep } from 'node:timers/promises';
import { issueCredential } from '@deedwire/actions';
import { createHarness } from '@deedwire/dev-environment/harness';
import { freezeServer, freezeSessions, startPostgres } from '@deedwire/embedded-postgres';
import { eventually, postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

// Not the server of the run, because the test freezes it.
const server = await startPostgres();
const harness = await forFile(createHarness(server));

// The service allows 2.5 s for the database. The rest is for a busy machine; a TCP connection would wait for minutes.
const boundMs = 60_000;

test('returns 503 while the database accepts connections but does not respond, recovers, and stops without it', async () => {
  const service = await harness.startApi('customer', { DATABASE_TIMEOUT_MS: 2_500 });
  await service.whenReady;
  const send = async (query: string) => {
    const startedMs = performance.now();
    const url = `${service.url}/customer/graphql`;
    const { status, body } = await postGraphql(url, harness.accounts.customer.credential, { query });
    return { status, code: body.errors?.[0]?.extensions.code, inTime: performance.now() - startedMs < boundMs };
  };
  const read = '{ customer { name } }';
  const refer = 'mutation { placeOrder(input: { item: "Client", idempotencyKey: "frozen" }) { userErrors { code } } }';
  expect(await send(read)).toMatchObject({ status: 200 });

  const thaw = await freezeServer(server.url);
  try {
    // More requests than the pool has connections.
    const results = await Promise.all([...Array.from({ length: 20 }, () => send(read)), send(refer)]);
    expect(results).toEqual(results.map(() => ({ status: 503, code: 'SERVICE_UNAVAILABLE', inTime: true })));
    expect(await send(refer)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE', inTime: true });
  } finally {
    thaw();
  }
  await eventually(async () => expect(await send(read)).toMatchObject({ status: 200 }));
  const thawAgain = await freezeServer(server.url);
  try {
    const refused = await Promise.all(Array.from({ length: 20 }, () => send(refer)));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    await service.stop();
  } finally {
    thawAgain();
  }
});

test('serves clients with a known key while the lookups of other credentials hang', async () => {
  const service = await harness.startApi('customer', { DATABASE_TIMEOUT_MS: 60_000 });
  await service.whenReady;
  const { id: accountId, credential } = harness.accounts.customer;
  const others: string[] = [];
  for (let count = 0; count < 6; count += 1) {
    others.push(
      (await issueCredential(harness.operator, { interfaceName: 'customer', accountId, clientId: null })).apiKey,
    );
  }
  const send = async (apiKey: string) => {
    const url = `${service.url}/customer/graphql`;
    return (await postGraphql(url, { ...credential, apiKey }, { query: '{ customer { name } }' })).status;
  };
  // The keys belong to other clients than the client id.
  const sendWrongCredentials = () => Promise.all(others.map(send));
  // The process of the test above has spent points during the outage that the bucket regains first.
  await eventually(async () => expect(await send(credential.apiKey)).toBe(200));
  const keySessions = () =>
    harness.sql(`select pid from pg_stat_activity where application_name = 'deedwire-customer-api-keys'`);
  // Opens all connections for keys that are not known to be valid. Lookups that arrive one after another share a connection.
  await eventually(async () => {
    // 30 requests per second are below the limit of the address.
    await sleep(200);
    expect(new Set(await sendWrongCredentials())).toEqual(new Set([401]));
    expect(await keySessions()).toHaveLength(2);
  });

  const thaw = await freezeSessions(server.url, 'deedwire-customer-api-keys');
  const hanging = sendWrongCredentials();
  try {
    await sleep(1_000); // until the key leaves the cache
    expect(await send(credential.apiKey)).toBe(200);
  } finally {
    thaw();
  }
  expect(new Set(await hanging)).toEqual(new Set([401]));
});
