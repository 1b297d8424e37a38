import { issueCredential, setClientLimit } from '@deedwire/actions';
import { parseApiKey } from '@deedwire/auth';
import { abilities } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { createHarness } from '@deedwire/dev-environment/harness';
import { type Credential, eventually, missing, postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { startInterfaces } from './support/interface-client.ts';
import { refusedInASecond } from './support/refused-in-a-second.ts';

const t = await forFile(createHarness());
// Two processes of one interface.
const [first, second] = await Promise.all([startInterfaces(t, ['customer']), startInterfaces(t, ['customer'])]);
const urls = [first.urls.customer, second.urls.customer];

interface Key {
  id: string;
  endedAt: string | null;
  lastUsedAt: string | null;
  lastUsedFrom: string | null;
  lastUsedVersion: string | null;
}

interface Changed {
  apiKey: Key | null;
  apiKeySecret?: string | null;
  userErrors: { code: string }[];
}

const issue = (limits: { addresses?: string[] } = {}, clientId: string | null = null): Promise<Credential> =>
  issueCredential(t.operator, { accountId: t.accounts.customer.id, clientId, abilities, ...limits });
const keyIdOf = ({ apiKey }: Credential): string => parseApiKey(testService, apiKey)?.keyId ?? missing();

const send = (credential: Credential, url = urls[0] ?? missing()) =>
  postGraphql(url, credential, { query: '{ customer { id } }' });
const statusOf = async (credential: Credential, url?: string): Promise<number> => (await send(credential, url)).status;

/** Without the request id. */
const stable = (body: object): string => JSON.stringify(body).replaceAll(/[0-9a-f-]{36}/g, '');

async function change(credential: Credential, mutation: string, input: object): Promise<Changed> {
  const query = `mutation ($input: ${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input!) {
    changed: ${mutation}(input: $input) {
      apiKey { id endedAt lastUsedAt lastUsedFrom lastUsedVersion } userErrors { code }
      ${mutation === 'revokeApiKey' ? '' : 'apiKeySecret'}
    } }`;
  const { body } = await postGraphql<{ changed: Changed }>(urls[0] ?? missing(), credential, {
    query,
    variables: { input },
  });
  return body.data?.changed ?? missing();
}

async function list(credential: Credential): Promise<Key[]> {
  const query = '{ apiKeys { id endedAt lastUsedAt lastUsedFrom lastUsedVersion } }';
  const { body } = await postGraphql<{ apiKeys: Key[] }>(urls[0] ?? missing(), credential, { query });
  return body.data?.apiKeys ?? missing();
}

let manager: Credential;
beforeEach(async () => {
  manager = await issue();
});

test('a key that a key has created works, says when it was used, and ends within a second everywhere', async () => {
  const { apiKeySecret } = await change(manager, 'createApiKey', { name: 'CRM', abilities: ['READ'] });
  const created = { ...manager, apiKey: apiKeySecret ?? '' };
  expect(await Promise.all(urls.map((url) => statusOf(created, url)))).toEqual([200, 200]);
  const used = { id: keyIdOf(created), lastUsedFrom: '127.0.0.1', lastUsedVersion: '2026-11-01' };
  await eventually(async () => expect(await list(manager)).toContainEqual(expect.objectContaining(used)));
  expect(await change(created, 'createApiKey', { name: 'x', abilities: ['READ'] }).catch(() => 'refused')).toBe(
    'refused',
  );

  await change(manager, 'revokeApiKey', { id: keyIdOf(created) });
  await refusedInASecond(() => Promise.all(urls.map((url) => statusOf(created, url))));
  const ended = { id: keyIdOf(created), endedAt: expect.any(String), lastUsedFrom: null };
  expect(await list(manager)).toContainEqual(expect.objectContaining(ended));
});

test('a key is refused from other addresses as an unknown one', async () => {
  const [here, elsewhere] = await Promise.all([
    issue({ addresses: ['127.0.0.0/8'] }),
    issue({ addresses: ['192.0.2.0/24'] }),
  ]);
  expect(await statusOf(here)).toBe(200);
  const [refused, unknown] = await Promise.all([send(elsewhere), send({ ...elsewhere, apiKey: manager.apiKey })]);
  expect(refused.status).toBe(401);
  expect(stable(refused.body)).toBe(stable(unknown.body));
});

test('100 rotations, revocations and uses at once leave each key live or refused, and no more than 5', async () => {
  await setClientLimit(t.operator, { clientId: manager.clientId, maximum: 10_000, restoreRate: 1_000_000 });
  const spare = await issue({}, manager.clientId);
  // An address may try 50 keys at once that a process has not seen.
  for (const url of urls) expect([await statusOf(manager, url), await statusOf(spare, url)]).toEqual([200, 200]);
  const results = await Promise.all(
    Array.from({ length: 100 }, async (_, index): Promise<string> => {
      if (index % 4 === 0) return `use ${await statusOf(spare, urls[index % 2])}`;
      if (index % 4 === 1) {
        const { userErrors } = await change(manager, 'revokeApiKey', { id: keyIdOf(spare) });
        return `revoke ${userErrors.map(({ code }) => code).join()}`;
      }
      const rotation = { id: keyIdOf(index % 4 === 2 ? spare : manager), overlapSeconds: 60 };
      const { userErrors, apiKeySecret } = await change(manager, 'rotateApiKey', rotation);
      return `rotate ${userErrors.map(({ code }) => code).join()} ${typeof apiKeySecret}`;
    }),
  );
  const known = ['use 200', 'use 401', 'revoke ', 'rotate  string', 'rotate KEY_ENDED object'];
  // The rotated key ends before a key without an end that replaces another one may.
  known.push('rotate LIMIT_REACHED object', 'rotate EXPIRY_INVALID object');
  expect(results.filter((result) => !known.includes(result))).toEqual([]);
  expect(results).toContain('revoke ');
  const live = (await list(manager)).filter(({ endedAt }) => endedAt === null);
  expect(live.length).toBeLessThanOrEqual(5);
  expect(live.map(({ id }) => id)).not.toContain(keyIdOf(spare));
  await eventually(async () => expect(await statusOf(spare, urls[1])).toBe(401));
});
