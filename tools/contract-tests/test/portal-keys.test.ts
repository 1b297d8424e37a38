import { hash } from 'node:crypto';
import { issueCredential } from '@deedwire/actions';
import { parseApiKey } from '@deedwire/auth';
import { type Ability, abilities as allAbilities } from '@deedwire/core';
import { interfaceNames, testService } from '@deedwire/core/test-service';
import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { type Credential, missing, postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { type Browser, createBrowser, portalOrigin, type Received, writePages } from './support/portal-browser.ts';
import { refusedInASecond } from './support/refused-in-a-second.ts';

const keyOperations = {
  keys: '{ apiKeys { id name abilities createdBy { apiKeyId portalActor } endedAt } }',
  createKey:
    'mutation ($input: CreateApiKeyInput!) { changed: createApiKey(input: $input) { apiKey { id abilities } apiKeySecret userErrors { code message field } } }',
  rotateKey:
    'mutation ($input: RotateApiKeyInput!) { changed: rotateApiKey(input: $input) { apiKey { id } apiKeySecret userErrors { code message field } } }',
  revokeKey:
    'mutation ($input: RevokeApiKeyInput!) { changed: revokeApiKey(input: $input) { apiKey { id } userErrors { code } } }',
};

const harness = await forFile(createHarness());
const pages = await forFile(writePages(keyOperations));
const config = { PORTAL_ORIGIN: portalOrigin } as const;
const services = await Promise.all(
  interfaceNames.map((name) => harness.startApi(name, config, undefined, { portalFolder: pages.folder })),
);
await Promise.all(services.map(({ whenReady }) => whenReady));
const url = services[interfaceNames.indexOf('customer')]?.url ?? missing();
const endpoint = `${url}${testService.interfaces.customer.path}/graphql`;
const { customer, supplier } = harness.accounts;

const env = {
  DATABASE_URL: await harness.database.urlFor('operator'),
  OPERATOR_NAME: 'ada',
  PORTAL_ORIGIN: portalOrigin,
};
const operate = (...given: string[]) => callOperator(env, ...given);

interface Invite {
  url: string;
  clientId: string;
}

async function invite(...options: string[]): Promise<Invite> {
  const { stdout, stderr } = await operate('credential', 'invite', '--account', customer.id, ...options, '--json');
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

const organizationNumber = customer.credential.organizationId.split('/').at(-1);
const openBrowser = (): Browser =>
  createBrowser(url, `${testService.interfaces.customer.path}/portal/${organizationNumber}/`);

async function open(link: string): Promise<Browser> {
  const browser = openBrowser();
  expect(await browser.open(link)).toMatchObject({ status: 200 });
  return browser;
}

const run = (browser: Browser, name: keyof typeof keyOperations, input?: object): Promise<Received> =>
  browser.send({
    method: 'POST',
    path: 'graphql',
    body: { documentId: hash('sha256', keyOperations[name]), variables: input && { input } },
  });

const change = async (browser: Browser, name: 'createKey' | 'rotateKey' | 'revokeKey', input: object) =>
  (await run(browser, name, input)).json.data.changed;

const keysOf = async (browser: Browser) => (await run(browser, 'keys')).json.data.apiKeys;

const statusWith = async (credential: Credential): Promise<number> =>
  (await postGraphql(endpoint, credential, { query: '{ customer { id } }' })).status;

const listed = async (): Promise<Record<string, unknown>[]> =>
  JSON.parse((await operate('portal', 'session', 'list', '--account', customer.id, '--json')).stdout);

const audit = (clientId: string) =>
  harness.sql(
    `select action, actor, actor_type, address, details from audit_entry where details ->> 'clientId' = $1 order by number`,
    [clientId],
  );

async function createLink(credential: Credential, abilities: readonly Ability[]): Promise<string> {
  const query = `mutation ($abilities: [PortalAbility!]!) {
    createPortalLink(input: { abilities: $abilities, actor: "user-7" }) { portalLink { url } } }`;
  const { body } = await postGraphql<{ createPortalLink: { portalLink: { url: string } } }>(endpoint, credential, {
    query,
    variables: { abilities },
  });
  return body.data?.createPortalLink.portalLink.url ?? missing();
}

const issue = (abilities: readonly Ability[] = allAbilities) =>
  issueCredential(harness.operator, { accountId: customer.id, clientId: null, abilities });

test('an invite lets a person create the first key of a client, and is in the audit log', async () => {
  const { url: link, clientId } = await invite('--ability', 'OPERATE', '--ability', 'MANAGE_KEYS');
  expect(link).toMatch(new RegExp(`^${portalOrigin}/customer/portal/${organizationNumber}/keys#link=[\\w-]{43}$`));
  const browser = openBrowser();
  // A scanner of mail.
  for (const method of ['GET', 'HEAD', 'GET'])
    expect(await browser.send({ method, path: 'keys' })).toMatchObject({ status: 200 });
  const { json: session } = await browser.open(link, { 'X-Forwarded-For': '198.51.100.7' });
  const given = ['READ', 'OPERATE', 'MANAGE_KEYS'];
  expect(session).toMatchObject({
    abilities: ['READ', 'MANAGE_KEYS'],
    keyAbilities: given,
    keyClient: clientId,
    actor: 'invite',
  });
  expect(await keysOf(browser)).toEqual([]);
  const created = await change(browser, 'createKey', { name: 'first', abilities: given });
  const credential = { clientId, apiKey: created.apiKeySecret, organizationId: customer.credential.organizationId };
  expect(await statusWith(credential)).toBe(200);
  expect(await keysOf(browser)).toMatchObject([
    { name: 'first', abilities: given, createdBy: { apiKeyId: null, portalActor: 'invite' }, endedAt: null },
  ]);
  expect((await operate('credential', 'list', '--account', customer.id)).stdout).toContain('an operator (invite)');
  const portal = { sessionId: session.id, actor: 'invite' };
  expect(await audit(clientId)).toMatchObject([
    {
      action: 'portal_link.create',
      actor: 'ada',
      details: { actor: 'invite', keyAbilities: given, command: 'credential.invite' },
    },
    { action: 'portal_session.start', actor_type: 'CLIENT', address: expect.any(String), details: { portal } },
    { action: 'credential.issue', actor_type: 'CLIENT', details: { portal } },
  ]);
});

test('the session of an invite only reads besides, and gives no more than the invite names', async () => {
  const { url: link } = await invite('--ability', 'WRITE');
  const browser = await open(link);
  for (const name of ['payload', 'exchange', 'pause', 'rename', 'rotate'] as const)
    expect((await browser.run(name, { id: 'x', input: { id: 'x' } })).status).toBe(403);
  expect((await browser.run('subscriptions')).status).toBe(200);
  const refused = await change(browser, 'createKey', { name: 'a', abilities: ['READ', 'WRITE', 'OPERATE'] });
  expect(refused.userErrors).toEqual([
    {
      code: 'ABILITIES_INVALID',
      field: ['input', 'abilities'],
      message: 'The key would have OPERATE, which your session cannot give.',
    },
  ]);
  const { apiKey } = await change(browser, 'createKey', { name: 'a', abilities: ['READ', 'WRITE'] });
  expect((await change(browser, 'rotateKey', { id: apiKey.id })).userErrors).toEqual([]);
  // Of another client of the account.
  const other = parseApiKey(testService, customer.credential.apiKey)?.keyId;
  for (const name of ['rotateKey', 'revokeKey'] as const)
    expect((await change(browser, name, { id: other })).userErrors).toMatchObject([{ code: 'NOT_FOUND' }]);
});

test('an invite that two browsers use at once opens one session', async () => {
  const { url: link } = await invite();
  const opened = await Promise.all([openBrowser(), openBrowser()].map((browser) => browser.open(link)));
  expect(opened.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
});

test('an invite for a client manages the keys of this client', async () => {
  const { clientId, apiKey } = await issue(['READ']);
  const browser = await open((await invite('--client', clientId)).url);
  const keyId = parseApiKey(testService, apiKey)?.keyId;
  expect(await keysOf(browser)).toMatchObject([{ id: keyId, createdBy: null }]);
  expect(await change(browser, 'revokeKey', { id: keyId })).toMatchObject({ apiKey: { id: keyId }, userErrors: [] });
});

test.each([
  ['an expiry below 1 hour', ['--expires-in', '59m'], '1 hour to 7 days'],
  ['an expiry above 7 days', ['--expires-in', '169h'], '1 hour to 7 days'],
  ['abilities that no key has', ['--ability', 'CONFIGURE'], 'Pass READ_PAYLOAD with CONFIGURE'],
  ['the client of another account', ['--client', supplier.credential.clientId], 'The account has no client'],
  ['the client of the portal', ['--client', `portal_customer_${customer.accountId}`], 'belongs to the portal'],
])('an invite is refused for %s', async (_, options, message) => {
  await createLink(customer.credential, ['READ']);
  const clients = 'select count(*)::int as count from api_client';
  const before = await harness.sql(clients);
  expect(await operate('credential', 'invite', '--account', customer.id, ...options)).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining(message),
  });
  expect(await harness.sql(clients)).toEqual(before);
});

test.each([
  ['the shortest', '1h', 3_600],
  ['by default', undefined, 86_400],
  ['the longest', '7d', 604_800],
])('an invite expires as it says: %s', async (_, expiresIn, seconds) => {
  const { clientId } = await invite(...(expiresIn === undefined ? [] : ['--expires-in', expiresIn]));
  const left = `select round(extract(epoch from s.expires_at - now()) / 60)::int as minutes
    from portal_session s join api_client c on c.id = s.invited_client_id where c.client_id = $1`;
  expect(await harness.sql(left, [clientId])).toEqual([{ minutes: seconds / 60 }]);
});

test('while only operators manage keys, a session creates none, and no invite is created', async () => {
  const browser = await open((await invite()).url);
  expect(await operate('database', 'key-self-service', 'off')).toMatchObject({ exitCode: 0 });
  onTestFinished(async () => void (await operate('database', 'key-self-service', 'on')));
  expect(await operate('credential', 'invite', '--account', customer.id)).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('Only operators manage keys, so an invite could create none.'),
  });
  const created = await change(browser, 'createKey', { name: 'CRM', abilities: ['READ'] });
  expect(created).toMatchObject({ apiKey: null, userErrors: [{ code: 'KEY_SELF_SERVICE_OFF' }] });
});

test('an operator lists invites, and ends them within a second, whether they were used or not', async () => {
  const [unused, used] = [await invite('--ability', 'WRITE'), await invite()];
  const browser = await open(used.url);
  const rows = await listed();
  const idOfInvite = ({ clientId }: Invite) => String(rows.find((row) => row['keyClient'] === clientId)?.['id']);
  expect(rows.slice(0, 2)).toMatchObject([
    { keyClient: used.clientId, invitedAbilities: allAbilities, startedAt: expect.any(String) },
    { keyClient: unused.clientId, invitedAbilities: ['READ', 'WRITE'], startedAt: null },
  ]);
  const { stdout } = await operate('portal', 'session', 'list', '--account', customer.id);
  expect(stdout).toMatch(/invited to keys of +keys may/);
  expect(stdout).toMatch(new RegExp(`${unused.clientId} +READ WRITE`));
  for (const each of [unused, used])
    expect(await operate('portal', 'session', 'revoke', idOfInvite(each))).toMatchObject({ exitCode: 0 });
  expect(await openBrowser().open(unused.url)).toMatchObject({ status: 401 });
  await refusedInASecond(async () => [(await run(browser, 'keys')).status]);
  const clients = (await listed()).map((row) => row['keyClient']);
  expect(clients.filter((clientId) => [unused.clientId, used.clientId].includes(String(clientId)))).toEqual([]);
});

test('a link of an operator manages no keys, and the refusal names the command that does', async () => {
  const options = ['--account', customer.id, '--ability', 'MANAGE_KEYS'];
  expect(await operate('portal', 'link', ...options)).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('deedwire-operator credential invite'),
  });
});

test('a session manages the keys of the client whose key created its link, within its own abilities', async () => {
  const manager = await issue();
  const keyId = parseApiKey(testService, manager.apiKey)?.keyId;
  const browser = await open(await createLink(manager, ['READ', 'OPERATE', 'MANAGE_KEYS']));
  expect(await keysOf(browser)).toMatchObject([{ id: keyId }]);
  const [withWrite, within] = [
    await change(browser, 'createKey', { name: 'a', abilities: ['READ', 'WRITE'] }),
    await change(browser, 'createKey', { name: 'a', abilities: ['READ', 'OPERATE'] }),
  ];
  expect(withWrite.userErrors).toMatchObject([{ code: 'ABILITIES_INVALID' }]);
  expect(await statusWith({ ...manager, apiKey: within.apiKeySecret })).toBe(200);
  expect((await keysOf(browser))[0]).toMatchObject({ createdBy: { apiKeyId: keyId, portalActor: 'user-7' } });
  const rotated = await change(browser, 'rotateKey', { id: keyId });
  expect(rotated.userErrors).toMatchObject([{ code: 'ABILITIES_INVALID' }]);
});

test('a session without MANAGE_KEYS manages no keys', async () => {
  const browser = await open(await createLink(await issue(), ['READ', 'OPERATE']));
  expect((await run(browser, 'keys')).status).toBe(403);
  expect((await run(browser, 'createKey', { name: 'a', abilities: ['READ'] })).status).toBe(403);
});

test('a secret is not repeated, including in a session', async () => {
  const browser = await open((await invite()).url);
  const input = { name: 'a', abilities: ['READ'], idempotencyKey: 'k' };
  const [first, again] = [await change(browser, 'createKey', input), await change(browser, 'createKey', input)];
  expect(again).toMatchObject({
    apiKey: first.apiKey,
    apiKeySecret: null,
    userErrors: [{ code: 'SECRET_NOT_REPEATED' }],
  });
});
