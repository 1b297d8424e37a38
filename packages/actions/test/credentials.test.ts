import { parseApiKey } from '@deedwire/auth';
import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import {
  expireCredential,
  findApiKey,
  issueCredential,
  listCredentials,
  recordApiKeyUse,
  revokeCredential,
  rotateCredential,
  type IssuedCredential,
} from '../src/index.ts';
import { expectRefused } from './support/operator.ts';
import { useWorld } from './support/use-world.ts';
import type { Account } from './support/world.ts';

const world = await useWorld();

const issue = (account: Account = world.customer, clientId: string | null = null) =>
  issueCredential(world.operator, { interfaceName: account.interfaceName, accountId: account.gid, clientId });
const list = (account: Account = world.customer) =>
  listCredentials(world.operator, { interfaceName: account.interfaceName, accountId: account.gid });
const keyIdOf = ({ apiKey }: IssuedCredential) => parseApiKey(testService, apiKey)?.keyId ?? '';
const rotate = (keyId: string, { overlapSeconds }: { overlapSeconds: number }) =>
  rotateCredential(world.operator, { keyId, overlapSeconds, expiresAt: null });
const revoke = (keyId: string) => revokeCredential(world.operator, { keyId });

test('finds a key only on the interface that it was issued for', async () => {
  const credential = await issue();
  expect(parseApiKey(testService, credential.apiKey)?.interfaceName).toBe('customer');
  const keyId = keyIdOf(credential);
  expect(await findApiKey(world.customerApi, keyId)).toMatchObject({
    keyId,
    clientId: credential.clientId,
    accountId: world.customer.accountId,
    organizationId: world.organizationId,
    interfaceName: 'customer',
    expiresAt: null,
    revokedAt: null,
  });
  expect(credential.organizationId).toBe(world.organizationId);
  expect(await findApiKey(world.supplierApi, keyId)).toBeNull();
  expect(await findApiKey(world.customerApi, 'x'.repeat(12))).toBeNull();
});

test('makes the id of a new client from the random source of the context', async () => {
  const random = { ...world.operator.random, bytes: (size: number) => Buffer.alloc(size, 0xab) };
  const input = { interfaceName: 'customer', accountId: world.customer.gid, clientId: null } as const;
  const { clientId } = await issueCredential({ ...world.operator, random }, input);
  expect(clientId).toBe(`customer_${'ab'.repeat(12)}`);
});

test('does not store the key itself', async () => {
  const { apiKey } = await issue();
  const rows = await world.sql('select to_jsonb(api_key) as key from api_key');
  expect(JSON.stringify(rows)).not.toContain(apiKey.split('_')[3]);
});

test('limits a client to 5 live keys, including for concurrent requests, without revoked and expired keys', async () => {
  const first = await issue();
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => issue(world.customer, first.clientId)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
  const reasons = results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : []));
  const message = 'The client has 5 live keys; at most 5 are allowed. Revoke one first.';
  const refusal = { code: 'LIMIT_REACHED', message };
  expect(reasons).toEqual(Array(4).fill(expect.objectContaining(refusal)));
  await revoke(keyIdOf(first));
  const sixth = await issue(world.customer, first.clientId);
  await expect(issue(world.customer, first.clientId)).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  await world.sql(`update api_key set expires_at = now() - interval '1 second' where key_id = $1`, [keyIdOf(sixth)]);
  await issue(world.customer, first.clientId);
  // Another client has its own limit.
  expect((await issue()).clientId).not.toBe(first.clientId);
  expect(await list()).toHaveLength(8);
});

test('rejects a client of another account, and an account that does not exist', async () => {
  const { clientId } = await issue();
  for (const account of [world.otherCustomer, world.supplier]) {
    await expect(issue(account, clientId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  }
  await expect(issue(world.customer, 'nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const mislabelled = { ...world.customer, interfaceName: 'supplier' as const };
  await expect(issue(mislabelled)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(list(mislabelled)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(issue({ ...world.customer, gid: 'gid://service/Customer/999999' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('finds a key with its expiry, and rejects an expiry that is not in the future', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const account = { interfaceName: 'customer', accountId: world.customer.gid, clientId: null } as const;
  const keyId = keyIdOf(await issueCredential(world.operator, { ...account, expiresAt }));
  expect(await findApiKey(world.customerApi, keyId)).toMatchObject({ expiresAt });
  await expectRefused(issueCredential(world.operator, { ...account, expiresAt: new Date() }), 'INVALID');
});

test('rotates a key: another key of the client, and an expiry for the old one', async () => {
  const first = await issue();
  const started = Date.now();
  const second = await rotate(keyIdOf(first), { overlapSeconds: 3_600 });
  expect(second).toEqual({ ...first, apiKey: expect.not.stringMatching(first.apiKey) });
  const [old, current] = await list();
  expect(old?.expiresAt?.getTime()).toBeGreaterThanOrEqual(started + 3_600_000 - 1_000);
  expect(current).toMatchObject({ keyId: keyIdOf(second), clientId: first.clientId, expiresAt: null });

  // Without an overlap, the old key expires at once. An earlier expiry stays.
  await rotate(keyIdOf(second), { overlapSeconds: 0 });
  await expectRefused(
    rotate(keyIdOf(second), { overlapSeconds: 0 }),
    'CONFLICT',
    `The key ${keyIdOf(second)} has expired.`,
  );
  await rotate(keyIdOf(first), { overlapSeconds: 7_200 });
  expect((await list())[0]?.expiresAt).toEqual(old?.expiresAt);
});

test.each([-1, 2_592_001, 0.5])('rejects an overlap of %d seconds', async (overlapSeconds) => {
  const keyId = keyIdOf(await issue());
  await expectRefused(rotate(keyId, { overlapSeconds }), 'INVALID');
  expect(await list()).toHaveLength(1);
});

test('a rotation counts as a live key, unless it has no overlap', async () => {
  const first = await issue();
  for (let count = 1; count < 5; count += 1) await issue(world.customer, first.clientId);
  await expectRefused(rotate(keyIdOf(first), { overlapSeconds: 60 }), 'LIMIT_REACHED');
  expect((await list()).map(({ expiresAt }) => expiresAt)).toEqual([null, null, null, null, null]);
  await rotate(keyIdOf(first), { overlapSeconds: 0 });
  await expectRefused(rotate('nobody', { overlapSeconds: 0 }), 'NOT_FOUND');
});

test('expires a key now or at a given time, once', async () => {
  const keyId = keyIdOf(await issue());
  const later = new Date(Date.now() + 86_400_000);
  expect(await expireCredential(world.operator, { keyId, expiresAt: later })).toEqual({ keyId, expiresAt: later });
  const { expiresAt } = await expireCredential(world.operator, { keyId, expiresAt: null });
  expect(expiresAt.getTime()).toBeLessThan(later.getTime());
  expect(await findApiKey(world.customerApi, keyId)).toMatchObject({ expiresAt });
  await expectRefused(expireCredential(world.operator, { keyId, expiresAt: null }), 'CONFLICT');
  await revoke(keyId);
  await expectRefused(
    expireCredential(world.operator, { keyId, expiresAt: later }),
    'CONFLICT',
    `The key ${keyId} is revoked.`,
  );
  await expectRefused(expireCredential(world.operator, { keyId, expiresAt: new Date(0) }), 'INVALID');
});

test('finds a revoked key with its time of revocation, which a second revocation keeps', async () => {
  const keyId = keyIdOf(await issue());
  await world.sql(`update api_key set revoked_at = now() - interval '1 day'`);
  const { revokedAt } = await revoke(keyId);
  expect(revokedAt.getTime()).toBeLessThan(Date.now() - 80_000_000);
  expect(await findApiKey(world.customerApi, keyId)).toMatchObject({ revokedAt });
  await expect(revoke('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('records the last use with its address and version, and ignores an earlier time', async () => {
  const keyId = keyIdOf(await issue());
  expect(await list()).toMatchObject([{ keyId, lastUsedAt: null, lastUsedFrom: null, lastUsedVersion: null }]);
  const use = (at: string, version: string | null = null) => ({
    keyId,
    at: new Date(at),
    address: '2001:db8::7',
    version,
  });
  await recordApiKeyUse(world.customerApi, use('2026-11-20T08:01:00Z', '2026-11-01'));
  await recordApiKeyUse(world.customerApi, use('2026-11-20T08:00:00Z'));
  await recordApiKeyUse(world.supplierApi, use('2027-01-01T00:00:00Z'));
  const last = {
    lastUsedAt: new Date('2026-11-20T08:01:00Z'),
    lastUsedFrom: '2001:db8::7',
    lastUsedVersion: '2026-11-01',
  };
  expect(await list()).toMatchObject([{ keyId, ...last }]);
  await recordApiKeyUse(world.customerApi, { ...use('2026-11-20T08:02:00Z'), address: 'unknown' });
  expect(await list()).toMatchObject([{ keyId, lastUsedFrom: null, lastUsedVersion: null }]);
});

test('the address of the last use is deleted with the end of the key, and 90 days later', async () => {
  const [revoked, expired, unused] = [keyIdOf(await issue()), keyIdOf(await issue()), keyIdOf(await issue())];
  const at = new Date(Date.now() - 91 * 86_400_000);
  const use = (keyId: string) =>
    recordApiKeyUse(world.customerApi, { keyId, at, address: '192.0.2.1', version: '2026-11-01' });
  await Promise.all([revoked, expired, unused].map(use));
  await revoke(revoked);
  await expireCredential(world.operator, { keyId: expired, expiresAt: null });
  const stored = 'select key_id from api_key where last_used_from is not null';
  expect(await world.sql(stored)).toEqual([{ key_id: unused }]);
  // A request that was accepted before.
  await recordApiKeyUse(world.customerApi, { keyId: revoked, at: new Date(), address: '192.0.2.1', version: null });
  expect(await world.sql(stored)).toEqual([{ key_id: unused }]);
  expect(await world.sql('select forget_ended_api_keys(10)::int as count')).toEqual([{ count: 1 }]);
  expect(await world.sql(stored)).toEqual([]);
});

test('a key is deleted 90 days after its end, and its entries of the audit log stay', async () => {
  const [live, recent, old] = [keyIdOf(await issue()), keyIdOf(await issue()), keyIdOf(await issue())];
  await world.sql(
    `update api_key set revoked_at = now() - case key_id when $1 then interval '89 days' else interval '91 days' end
     where key_id in ($1, $2)`,
    [recent, old],
  );
  await world.sql('select forget_ended_api_keys(10)');
  expect((await list()).map(({ keyId }) => keyId)).toEqual([live, recent]);
  const entries = await world.sql('select action from audit_entry where subject = $1 order by number', [old]);
  expect(entries.map(({ action }) => action)).toEqual(['credential.issue', 'credential.revoke', 'credential.delete']);
});
