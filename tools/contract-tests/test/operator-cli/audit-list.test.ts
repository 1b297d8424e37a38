import { parseApiKey } from '@deedwire/auth';
import { testService } from '@deedwire/core/test-service';
import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const harness = await forFile(createHarness());
const { accounts, sql } = harness;
const env = { DATABASE_URL: await harness.database.urlFor('operator'), OPERATOR_NAME: 'ada' };
const api = await harness.startApi('customer', { PORTAL_ORIGIN: 'https://portal.example' });
await api.whenReady;

const { credential, clientId } = { ...accounts.customer, clientId: accounts.customer.credential.clientId };
const keyId = parseApiKey(testService, credential.apiKey)?.keyId ?? '';
async function issue(): Promise<typeof credential> {
  const options = ['--account', accounts.customer.id, '--client', clientId, '--json'];
  const { stdout } = await callOperator(env, 'credential', 'issue', ...options);
  return JSON.parse(stdout);
}
const otherKeyCredential = await issue();

const place = (by: typeof credential) =>
  postGraphql(`${api.url}/customer/graphql`, by, {
    query: 'mutation { placeOrder(input: { item: "Grace Hopper" }) { order { id } } }',
  });
const link = `mutation { createPortalLink(input: { abilities: [READ], actor: "7" }) { portalLink { url } userErrors { message } } }`;

async function actions(...options: string[]): Promise<string[]> {
  const { stdout } = await callOperator(env, 'audit', 'list', ...options, '--json');
  const entries: { action: string }[] = JSON.parse(stdout);
  return entries.map(({ action }) => action);
}

test('lists what was changed with a key, and what changed the key, by client, key and time', async () => {
  await place(credential);
  await postGraphql(`${api.url}/customer/graphql`, credential, { query: link });
  await place(otherKeyCredential);
  await callOperator(env, 'credential', 'revoke', keyId);

  expect(await actions('--key', keyId)).toEqual([
    'credential.revoke',
    'portal_link.create',
    'order.place',
    'credential.issue',
  ]);
  expect(await actions('--key', keyId, '--limit', '2')).toEqual(['credential.revoke', 'portal_link.create']);
  const otherKeyId = parseApiKey(testService, otherKeyCredential.apiKey)?.keyId ?? '';
  expect(await actions('--key', otherKeyId)).toEqual(['order.place', 'credential.issue']);
  expect(await actions('--client', clientId)).toEqual([
    'credential.revoke',
    'order.place',
    'portal_link.create',
    'order.place',
    'credential.issue',
    'client.set-limit',
    'credential.issue',
    'client.create',
  ]);
  expect(await actions('--client', accounts.supplier.credential.clientId, '--since', '1h')).toEqual([
    'client.set-limit',
    'credential.issue',
    'client.create',
  ]);
  const byAccount = await actions('--account', accounts.supplier.id);
  expect(byAccount).toEqual(['client.set-limit', 'credential.issue', 'client.create', 'supplier.create']);
  const [number = ''] = /\d+$/.exec(accounts.supplier.id) ?? [];
  expect(await actions('--subject', accounts.supplier.id)).toEqual(['supplier.create']);
  expect(await actions('--subject', number)).toEqual(['supplier.create']);
  expect(await actions('--subject', `Supplier/${number}`)).toEqual(['supplier.create']);
  expect(await actions('--subject', number.slice(1))).toEqual([]);
  expect(await callOperator(env, 'audit', 'list', '--subject', 'nothing')).toMatchObject({
    stdout: 'No entries match\n',
  });
  expect(await callOperator(env, 'audit', 'list', '--subject', 'gid://other/Supplier/1')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Its namespace is other, but GID_NAMESPACE is service.'),
  });
  expect(await actions('--subject', keyId)).toEqual(['credential.revoke', 'credential.issue']);
  expect(await callOperator(env, 'audit', 'list', '--account', '1')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: The account 1 does not exist.\n',
  });
  const { stdout } = await callOperator(env, 'audit', 'list', '--limit', '20');
  expect(stdout).toMatch(new RegExp(`order\\.place .* ${otherKeyId} `));

  await sql(`update audit_entry set at = at - interval '2 hours' where action = 'order.place'`);
  expect(await actions('--key', keyId, '--until', '1h')).toEqual(['order.place']);
  expect(await actions('--key', keyId, '--since', '3h', '--until', '1h')).toEqual(['order.place']);
  expect(await actions('--key', keyId, '--since', '1h')).not.toContain('order.place');
});

test('searches all entries of the time, in parts', async () => {
  const { apiKey } = await issue();
  await sql(`insert into audit_entry (action, subject) select 'test.fill', 'c' from generate_series(1, 12000)`);
  expect(await actions('--key', parseApiKey(testService, apiKey)?.keyId ?? '', '--limit', '1')).toEqual([
    'credential.issue',
  ]);
  expect(await actions('--limit', '6000')).toHaveLength(6000);
});
