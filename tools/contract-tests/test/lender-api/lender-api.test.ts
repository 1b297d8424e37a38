import { randomBytes } from 'node:crypto';
import {
  type ActionContext,
  addTeamMember,
  createLender,
  createOrganization,
  createPartner,
  type IssuedCredential,
  issueCredential,
} from '@deedwire/actions';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { startInterfaceService } from '@deedwire/graphql-server';
import type { RunningService } from '@deedwire/service-runtime';
import { createStore, migrate } from '@deedwire/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lenderInterface } from '../src/lender-interface.ts';

let service: RunningService;
let lenderKey: IssuedCredential;
let otherLenderKey: IssuedCredential;
let partnerKey: IssuedCredential;
let cleanUp: () => Promise<void>;

beforeAll(async () => {
  const database = await createTestDatabase({
    template: 'migrated',
    prepare: async (url) => void (await migrate(url)),
  });
  const store = createStore({ databaseUrl: await database.urlFor('operator'), applicationName: 'test-operator' });
  const operator: ActionContext = { store, gidNamespace: 'service', notify: () => {} };
  const { id: organizationId } = await createOrganization(operator, { name: 'Organization' });
  const lender = await createLender(operator, { organizationId, name: 'Lender' });
  for (const firstName of ['Ada', 'Grace']) {
    const email = `${firstName.toLowerCase()}@example.com`;
    await addTeamMember(operator, { lenderId: lender.id, firstName, lastName: 'Example', email });
  }
  const otherLender = await createLender(operator, { organizationId, name: 'Other lender' });
  const partner = await createPartner(operator, { organizationId, name: 'Partner' });
  const keyOf = (interfaceName: 'lender' | 'partner', { id }: { id: string }) =>
    issueCredential(operator, { interfaceName, accountId: id, clientId: null });
  lenderKey = await keyOf('lender', lender);
  otherLenderKey = await keyOf('lender', otherLender);
  partnerKey = await keyOf('partner', partner);

  service = await startInterfaceService({
    ...lenderInterface,
    appVersion: '0.0.0',
    config: {
      PORT: 0,
      HOST: '127.0.0.1',
      LOG_LEVEL: 'silent',
      NODE_ENV: 'test',
      DATABASE_URL: await database.urlFor('lender_api'),
      GID_NAMESPACE: 'service',
      WEBHOOK_SECRET_KEYS: new Map([['test', randomBytes(32)]]),
      WEBHOOK_CALLBACK_POLICY: 'public',
      DOCUMENTATION_URL: 'https://docs.example',
    },
  });
  await service.whenReady;
  cleanUp = async () => {
    await service.stop();
    await store.close();
    await database.drop();
  };
});
afterAll(() => cleanUp());

test('a lender reads its organization and its team, in the order in which they were added', async () => {
  const { status, body } = await call(lenderKey, '{ lender { name members { id firstName lastName email } } }');
  expect([status, body]).toEqual([
    200,
    { data: { lender: { name: 'Lender', members: [member('Ada'), member('Grace')] } } },
  ]);
});

test('another lender of the organization reads only its own', async () => {
  const { body } = await call(otherLenderKey, '{ lender { name members { id } } }');
  expect(body).toEqual({ data: { lender: { name: 'Other lender', members: [] } } });
});

test('credentials of the partner interface are refused', async () => {
  const { status, body } = await call(partnerKey, '{ lender { id } }');
  expect([status, body.errors[0].extensions.code]).toEqual([403, 'WRONG_INTERFACE']);
});

test('an organization that is not the client’s is refused', async () => {
  const { status } = await call(
    { ...lenderKey, organizationId: 'gid://service/Organization/999' },
    '{ lender { id } }',
  );
  expect(status).toBe(401);
});

test('only event types of lenders are offered, and only public HTTPS URLs are taken', async () => {
  const { body } = await call(lenderKey, '{ webhookEventTypes { type } }');
  const types = body.data.webhookEventTypes.map(({ type }: { type: string }) => type);
  expect(types).toEqual([
    'lender.updated',
    'team_member.added',
    'team_member.removed',
    'team_member.updated',
    'webhook.test',
  ]);

  const create = `mutation ($url: String!) {
    createWebhookSubscription(input: { callbackUrl: $url, eventTypes: [{ type: "lender.updated" }] }) { userErrors { code } }
  }`;
  for (const url of ['http://example.com/', 'https://127.0.0.1/', 'https://[::1]/']) {
    const refused = await call(lenderKey, create, { url });
    expect(refused.body.data.createWebhookSubscription.userErrors).toEqual([{ code: 'CALLBACK_URL_FORBIDDEN' }]);
  }
});

async function call(
  { clientId, apiKey, organizationId }: IssuedCredential,
  query: string,
  variables: Record<string, unknown> = {},
) {
  const response = await fetch(`${service.url}/lenders/graphql`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Client-Id': clientId,
      'X-Service-API-Key': apiKey,
      'X-Service-Organization-Id': organizationId,
    },
    body: JSON.stringify({ query, variables }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

function member(firstName: string) {
  return {
    id: expect.stringMatching(/^gid:\/\/service\/TeamMember\/\d+$/),
    firstName,
    lastName: 'Example',
    email: `${firstName.toLowerCase()}@example.com`,
  };
}
