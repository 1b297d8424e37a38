import { createAuthenticator, generateApiKey, type StoredApiKey } from '@deedwire/auth';
import { usualAbilities } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { createLogger } from '@deedwire/service-runtime';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createRequestAuthenticator } from './authenticate-request.ts';

const { apiKey, keyId, keyHash } = generateApiKey(testService, 'supplier');
const stored: StoredApiKey = {
  keyId,
  keyHash,
  expiresAt: null,
  revokedAt: new Date('2026-11-01'),
  clientId: 'client-1',
  accountId: '2',
  organizationId: 'org-1',
  interfaceName: 'supplier',
  schemaVersion: '2026-11-01',
  costLimit: { maximum: 2_000, restoreRate: 200 },
  abilities: usualAbilities,
  addresses: null,
};
const origin = { requestId: 'request-1', address: '2001:db8::7' };

function setUp(key: StoredApiKey) {
  let lineMs = 0;
  const logged: Record<string, unknown>[] = [];
  const metrics = new Registry();
  const authenticator = createRequestAuthenticator({
    service: testService,
    interfaceName: 'supplier',
    authenticator: createAuthenticator({
      service: testService,
      interfaceName: 'supplier',
      findApiKey: async (id) => (id === key.keyId ? key : null),
      monotonicMs: () => 0, // no bucket refills
    }),
    logger: createLogger(
      { name: 'test', level: 'warn', service: testService },
      { write: (line) => logged.push(JSON.parse(line)) },
    ),
    metrics,
    monotonicMs: () => lineMs,
  });
  const authenticate = (presented: string | null, clientId = 'client-1', address = origin.address) => {
    const ids = { 'x-service-client-id': clientId, 'x-service-organization-id': 'org-1' };
    const headers = presented === null ? {} : { ...ids, 'x-service-api-key': presented };
    return authenticator.authenticate({ headers }, { ...origin, address });
  };
  return { authenticate, logged, metrics, wait: (ms: number) => (lineMs += ms) };
}

test('a refusal logs the key, its client, the reason and the address, and counts by reason', async () => {
  const { authenticate, logged, metrics } = setUp(stored);
  const unknown = generateApiKey(testService, 'supplier');
  const refused = {
    code: 'UNAUTHENTICATED',
    message: expect.stringMatching(/missing or invalid\. Check X-Service-Client-Id, X-Service-API-Key and /),
    extensions: {},
  };
  await expect(authenticate(apiKey)).rejects.toMatchObject(refused);
  await expect(authenticate(unknown.apiKey)).rejects.toMatchObject(refused);
  await expect(authenticate(null)).rejects.toMatchObject(refused);
  await expect(authenticate(apiKey, 'client-2')).rejects.toMatchObject(refused);

  const line = { level: 'warn', msg: 'credentials refused', requestId: 'request-1', address: '2001:db8::7' };
  expect(logged).toMatchObject([
    { ...line, reason: 'revoked', keyId, clientId: 'client-1' },
    { ...line, reason: 'unknown', keyId: unknown.keyId, clientId: null },
    { ...line, reason: 'missing', keyId: null, clientId: null },
    { ...line, reason: 'wrong_client', keyId, clientId: 'client-1' },
  ]);
  expect(JSON.stringify(logged)).not.toContain(apiKey.split('_')[3]);
  const counts = await metrics.getSingleMetricAsString('deedwire_refused_credentials_total');
  for (const reason of ['revoked', 'unknown', 'missing', 'wrong_client']) {
    expect(counts).toContain(`{interface="supplier",reason="${reason}"} 1`);
  }
});

test('logs the requests beyond the limit of an address once per second, with the number of the others', async () => {
  const { authenticate, logged, metrics, wait } = setUp(stored);
  const refuse = (address: string) =>
    expect(authenticate(null, 'client-1', address)).rejects.toMatchObject({ extensions: {} });
  for (let count = 0; count < 60; count += 1) await refuse(`2001:db8::${count.toString(16)}`);
  await refuse('192.0.2.1');
  wait(1000);
  await refuse('2001:db8::7');
  expect(logged.map(({ reason }) => reason)).toEqual([
    ...Array(50).fill('missing'),
    'rate_limited',
    'missing',
    'rate_limited',
  ]);
  expect(logged.map(({ suppressedLines }) => suppressedLines)).toEqual([...Array(52).fill(0), 9]);
  const counts = await metrics.getSingleMetricAsString('deedwire_refused_credentials_total');
  expect(counts).toContain('reason="rate_limited"} 11');
});
