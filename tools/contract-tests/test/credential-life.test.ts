import { createHarness, callOperator, type Harness } from '@deedwire/dev-environment/harness';
import { type Credential, eventually, postGraphql } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

let harness: Harness;
let url: string;
let env: Record<string, string>;

beforeAll(async () => {
  harness = await createHarness();
  const service = await harness.startPartnerApi();
  await service.whenReady;
  url = `${service.url}/partners/graphql`;
  const databaseUrl = await harness.database.urlFor('operator');
  env = { DATABASE_URL: databaseUrl, OPERATOR_NAME: 'ada', SLOW_STATEMENT_MS: '0' };
});
afterAll(() => harness.close());

async function operate<Result>(...commandArguments: string[]): Promise<Result> {
  const { stdout, stderr, exitCode } = await callOperator(env, ...commandArguments, '--json');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return JSON.parse(stdout);
}

const keyIdOf = ({ apiKey }: Credential): string => apiKey.split('_')[2] ?? '';
const send = (credential: Credential) => postGraphql(url, credential, { query: '{ partner { id } }' });
const expectAccepted = async (credential: Credential) => expect((await send(credential)).status).toBe(200);

/** Waits until the key is refused, which takes up to a second, and returns the response without its request id. */
async function untilRefused(credential: Credential): Promise<string> {
  return eventually(async () => {
    const { status, headers, body } = await send(credential);
    expect(status).toBe(401);
    return JSON.stringify(body).replaceAll(headers.get('x-request-id') ?? '', '');
  });
}

interface ListedKey {
  keyId: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
}

interface AuditEntry {
  actor: string;
  action: string;
  subject: string;
}

test('a key is issued, used, rotated, expired and revoked, and the audit log shows it', async () => {
  const { id: accountId } = harness.accounts.partner;
  const account = ['--interface', 'partner', '--account', accountId];
  const listKeys = async (): Promise<ListedKey[]> => {
    const keys = await operate<ListedKey[]>('credential', 'list', ...account);
    return keys.filter(({ keyId }) => keyId !== keyIdOf(harness.accounts.partner.credential));
  };

  // Issue: the client uses its first key, which would expire in a year.
  const nextYear = `${new Date().getUTCFullYear() + 1}-12-31`;
  const first = await operate<Credential>('credential', 'issue', ...account, '--expires', nextYear);
  await expectAccepted(first);
  await eventually(async () => expect((await listKeys())[0]?.lastUsedAt).not.toBeNull());

  // Rotate: for an hour, both keys are accepted.
  const second = await operate<Credential>('credential', 'rotate', keyIdOf(first), '--overlap', '1h');
  expect(second).toEqual({ ...first, apiKey: expect.any(String) });
  await expectAccepted(second);
  await expectAccepted(first);
  const [firstKey, secondKey] = await listKeys();
  expect(Date.parse(firstKey?.expiresAt ?? '')).toBeLessThan(Date.now() + 3_600_000);
  expect(secondKey).toMatchObject({ keyId: keyIdOf(second), expiresAt: null });

  // Expire: the client has changed its key, so the old one is no longer needed.
  await operate('credential', 'expire', keyIdOf(first));
  const expired = await untilRefused(first);
  await expectAccepted(second);

  // Revoke: the second key has leaked.
  await operate('credential', 'revoke', keyIdOf(second));
  const revoked = await untilRefused(second);
  expect(revoked).toBe(expired);
  const neither = await callOperator(env, 'credential', 'rotate', keyIdOf(second));
  expect(neither).toEqual({ exitCode: 1, stdout: '', stderr: `error: The key ${keyIdOf(second)} is revoked.\n` });

  // Audit: who did what, newest first.
  const entries = await operate<AuditEntry[]>('audit', 'list', '--limit', '4');
  const entry = {
    at: expect.any(String),
    actorType: 'OPERATOR',
    actor: 'ada',
    login: expect.stringMatching(/_operator$/),
    address: expect.any(String),
    requestId: expect.any(String),
    accountId,
  };
  const { clientId } = first;
  expect(entries).toEqual([
    { ...entry, action: 'credential.revoke', subject: keyIdOf(second), details: { clientId } },
    {
      ...entry,
      action: 'credential.expire',
      subject: keyIdOf(first),
      details: { clientId, expiresAt: (await listKeys())[0]?.expiresAt },
    },
    {
      ...entry,
      action: 'credential.rotate',
      subject: keyIdOf(first),
      details: { clientId, expiresAt: firstKey?.expiresAt, newKeyId: keyIdOf(second), newExpiresAt: null },
    },
    {
      ...entry,
      action: 'credential.issue',
      subject: keyIdOf(first),
      details: { clientId, expiresAt: `${nextYear}T00:00:00.000Z` },
    },
  ]);
  for (const { apiKey } of [first, second]) expect(JSON.stringify(entries)).not.toContain(apiKey.split('_')[3]);
});
