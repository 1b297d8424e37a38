import { setTimeout as sleep } from 'node:timers/promises';
import { createHarness, callOperator } from '@deedwire/dev-environment/harness';
import { type Credential, eventually, postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const harness = await forFile(createHarness());
const service = await harness.startApi('customer');
await service.whenReady;
const url = `${service.url}/customer/graphql`;
const databaseUrl = await harness.database.urlFor('operator');
const env = { DATABASE_URL: databaseUrl, OPERATOR_NAME: 'ada' };

async function operate<Result>(...commandArguments: string[]): Promise<Result> {
  const { stdout, stderr, exitCode } = await callOperator(env, ...commandArguments, '--json');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return JSON.parse(stdout);
}

const keyIdOf = ({ apiKey }: Credential): string => apiKey.split('_')[2] ?? '';
const send = (credential: Credential) => postGraphql(url, credential, { query: '{ customer { id } }' });
const expectAccepted = async (credential: Credential) => expect((await send(credential)).status).toBe(200);

/** The response to a key a second after its end, when every process refuses it, without the request id. */
async function refusalOf(credential: Credential): Promise<string> {
  await sleep(1_000);
  const { status, headers, body } = await send(credential);
  expect(status).toBe(401);
  return JSON.stringify(body).replaceAll(headers.get('x-request-id') ?? '', '');
}

interface ListedKey {
  keyId: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
}

/** As the database writes a time into an entry: without the zeros at the end of a fraction. */
const toDatabaseTime = (time: string | null | undefined): string => String(time).replace(/\.?0*Z$/, '+00:00');

interface AuditEntry {
  actor: string;
  action: string;
  subject: string;
}

test('a key is issued, used, rotated, expired and revoked, and the audit log shows it', async () => {
  const { id: accountId } = harness.accounts.customer;
  const account = ['--interface', 'customer', '--account', accountId];
  const listKeys = async (): Promise<ListedKey[]> => {
    const keys = await operate<ListedKey[]>('credential', 'list', ...account);
    return keys.filter(({ keyId }) => keyId !== keyIdOf(harness.accounts.customer.credential));
  };

  // Issue: the client uses its first key, which would expire in a year.
  const nextYear = `${new Date().getUTCFullYear() + 1}-12-31`;
  const first = await operate<Credential>('credential', 'issue', ...account, '--expires', nextYear);
  expect(Object.keys(first)).toEqual(['clientId', 'apiKey', 'organizationId']);
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

  const listed = await callOperator(env, 'credential', 'list', ...account);
  expect(listed.stdout.split('\n')).toHaveLength(5);
  for (const { apiKey } of [first, second]) expect(listed.stdout).not.toContain(apiKey.split('_')[3]);

  // Expire: the client has changed its key, so the old one is no longer needed.
  await operate('credential', 'expire', keyIdOf(first));
  const expired = await refusalOf(first);
  await expectAccepted(second);

  // Revoke: the second key has leaked.
  const revoking = await callOperator(env, 'credential', 'revoke', keyIdOf(second));
  expect(revoking.stdout).toMatch(new RegExp(`^Revoked the key ${keyIdOf(second)} at 20\\S+Z\n$`));
  const revoked = await refusalOf(second);
  expect(revoked).toBe(expired);
  const neither = await callOperator(env, 'credential', 'rotate', keyIdOf(second));
  expect(neither).toEqual({ exitCode: 1, stdout: '', stderr: `error: The key ${keyIdOf(second)} is revoked.\n` });

  // Audit: who did what, newest first.
  const entries = await operate<AuditEntry[]>('audit', 'list', '--limit', '6');
  const entry = {
    at: expect.any(String),
    number: expect.any(String),
    transactionId: expect.any(String),
    actorType: 'OPERATOR',
    actor: 'ada',
    login: expect.stringMatching(/_operator$/),
    address: expect.any(String),
    requestId: expect.any(String),
    accountId,
  };
  const { clientId } = first;
  expect(entries).toEqual([
    {
      ...entry,
      action: 'credential.revoke',
      subject: keyIdOf(second),
      details: {
        clientId,
        command: 'credential.revoke',
        old: { revoked_at: null },
        new: { revoked_at: expect.any(String) },
      },
    },
    {
      ...entry,
      action: 'credential.expire',
      subject: keyIdOf(first),
      details: {
        clientId,
        command: 'credential.expire',
        old: { expires_at: toDatabaseTime(firstKey?.expiresAt) },
        new: { expires_at: toDatabaseTime((await listKeys())[0]?.expiresAt) },
      },
    },
    {
      ...entry,
      action: 'credential.issue',
      subject: keyIdOf(second),
      details: { clientId, command: 'credential.rotate', new: expect.objectContaining({ key_id: keyIdOf(second) }) },
    },
    {
      ...entry,
      action: 'credential.expire',
      subject: keyIdOf(first),
      details: {
        clientId,
        command: 'credential.rotate',
        old: { expires_at: `${nextYear}T00:00:00+00:00` },
        new: { expires_at: toDatabaseTime(firstKey?.expiresAt) },
      },
    },
    {
      ...entry,
      action: 'credential.issue',
      subject: keyIdOf(first),
      details: {
        clientId,
        command: 'credential.issue',
        new: expect.objectContaining({ key_id: keyIdOf(first), expires_at: `${nextYear}T00:00:00+00:00` }),
      },
    },
    {
      ...entry,
      action: 'client.create',
      subject: clientId,
      details: { command: 'credential.issue', new: expect.objectContaining({ client_id: clientId }) },
    },
  ]);
  for (const { apiKey } of [first, second]) expect(JSON.stringify(entries)).not.toContain(apiKey.split('_')[3]);
});

test.each([
  ['the three headers of a new key', ['credential', 'issue'], /^(X-[\w-]+: \S+\n){3}$/],
  ['the link of an invite', ['credential', 'invite', '--origin', 'https://portal.example'], /^https:\S+\n$/],
  ['the link of the portal', ['portal', 'link', '--origin', 'https://portal.example'], /^https:\S+\n$/],
])('prints %s alone on standard output, and what to do with it on standard error', async (_, command, value) => {
  const printed = await callOperator(env, ...command, '--account', harness.accounts.customer.id);
  expect(printed).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(value),
    stderr: expect.stringMatching(/\S\n$/),
  });
});
