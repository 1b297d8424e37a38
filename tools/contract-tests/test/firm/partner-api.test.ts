import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { defineService, type Service, ServiceError } from '@deedwire/core';
import { createHarness } from '@deedwire/dev-environment/test/firm/harness';
import { firm } from '@deedwire/firm';
import { createReferralForPartner } from '@deedwire/firm/partner';
import { type InterfaceCode, serveContract, startInterface } from '@deedwire/graphql-server';
import { lenderInterface } from '@deedwire/lender-api/lender-interface';
import { partnerInterface } from '@deedwire/partner-api/partner-interface';
import { createSchema } from '@deedwire/partner-api/versions/2026-11-01';
import { abilities, costs, sdl, versions } from '@deedwire/partner-schema';
import { postGraphql, type GraphqlResponse } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

const queriesFolder = new URL('queries/', import.meta.url);

const harness = await forFile(createHarness());
const service = await harness.startPartnerApi();
await service.whenReady;

const details = { clientEmail: null, externalReference: null, note: null };

test('does not serve a schema that differs from its contract', async () => {
  const schemas = new Map([['2026-11-01', createSchema()]]);
  const contract = serveContract({ versions, sdl: changedSdl, costs, abilities }, schemas);
  const different = await harness.startPartnerApi({}, contract);
  const ready = async () => {
    const response = await fetch(`${different.adminUrl}/ready`);
    return { status: response.status, body: await response.json() };
  };
  const problems = [
    'schema version 2026-11-01 differs from its contract: after "type Partner" the contract has "name: String", the schema has "name: String!"',
  ];
  await expect.poll(ready).toEqual({ status: 503, body: { ready: false, problems } });
  const { status, body } = await send('{ partner { id } }', {}, harness.accounts.partner, different);
  expect([status, body.errors?.[0]?.extensions.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
});

/** Of a start with the code. It refuses before it connects to a database and before it listens. */
async function faultsOf(served: Service, code: InterfaceCode): Promise<unknown> {
  vi.stubEnv('DATABASE_URL', 'postgres://partner_api@127.0.0.1:1/deedwire');
  vi.stubEnv('WEBHOOK_SECRET_KEYS', `test:${randomBytes(32).toString('base64')}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const app = import.meta.resolve('@deedwire/partner-api/start');
  const starting = startInterface(served, 'partner', { app, code: async () => code });
  const error: unknown = await starting.catch((thrown: unknown) => thrown);
  return error instanceof ServiceError ? error.faults : error;
}

test('does not start with the code of another interface', async () => {
  expect(await faultsOf(firm, lenderInterface)).toEqual([
    '"partner": the type of its accounts is Partner in the service; the code of 2026-11-01 has Lender.',
    '"partner": the type of its accounts is Partner in the service; the code of 2027-02-01 has Lender.',
    '"partner": its versions are 2026-11-01 (current) in the service; the code serves 2026-11-01 (current), 2027-02-01 (preview).',
  ]);
});

test('does not start a service without the versions of the code', async () => {
  const { names, interfaces } = firm;
  const { versions: _, records: _records, ...partner } = interfaces.partner;
  expect(await faultsOf(defineService({ names, interfaces: { partner } }), partnerInterface)).toEqual([
    '"partner": its versions are none in the service; the code serves 2026-11-01 (current).',
  ]);
});

describe('referrals', () => {
  test('returns a user error for each invalid field', async () => {
    const create =
      'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } userErrors { code field } } }';
    const { status, body } = await send(create, { input: { clientName: ' ', clientEmail: 'nobody' } });
    expect(status).toBe(200);
    expect(body.data?.createReferral).toEqual({
      referral: null,
      userErrors: [
        { code: 'CLIENT_NAME_INVALID', field: ['input', 'clientName'] },
        { code: 'CLIENT_EMAIL_INVALID', field: ['input', 'clientEmail'] },
      ],
    });
  });

  test('one fragment reads the user errors of every mutation', async () => {
    const fragment = 'fragment Problem on UserError { message field }';
    const mutations = [
      'createReferral(input: { clientName: " " })',
      'createWebhookSubscription(input: { callbackUrl: "https://example.com", eventTypes: [] })',
      'updateWebhookSubscription(input: { id: "gid://service/WebhookSubscription/1", eventTypes: [] })',
      'deleteWebhookSubscription(input: { id: "gid://service/WebhookSubscription/1" })',
    ];
    for (const mutation of mutations) {
      const query = `mutation { result: ${mutation} { userErrors { ...Problem } } } ${fragment}`;
      const { body } = await send<{ result: { userErrors: unknown[] } }>(query);
      expect([mutation, body.data?.result.userErrors[0]]).toEqual([
        mutation,
        { message: expect.any(String), field: expect.any(Array) },
      ]);
    }
  });

  test('returns null for a referral of another partner, an unknown id and a malformed id', async () => {
    const { id: theirs } = await createReferralForPartner(harness.operator, {
      partnerId: harness.accounts.otherPartner.id,
      clientName: 'Theirs',
      ...details,
    });
    const ids = [
      theirs,
      'gid://service/Referral/999999',
      theirs.replace('Referral', 'Matter'),
      'gid://x/Referral/1',
      '',
      'x'.repeat(9999),
    ];
    for (const id of ids) {
      const { status, body } = await send('query ($id: ID!) { referral(id: $id) { id } }', { id });
      expect([status, body]).toEqual([200, { data: { referral: null }, extensions: expect.any(Object) }]);
    }
  });

  test('lists referrals newest first over several pages', async () => {
    for (const clientName of ['B', 'C', 'D']) {
      await createReferralForPartner(harness.operator, {
        partnerId: harness.accounts.partner.id,
        clientName,
        ...details,
      });
    }
    const query = `query ($after: String) {
      referrals(first: 2, after: $after, status: OPEN) {
        edges { cursor node { clientName } } nodes { clientName }
        pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
      }
    }`;
    const names: string[] = [];
    let after: string | null = null;
    do {
      const response: GraphqlResponse<{ referrals: Page }> = await send(query, { after });
      const page = response.body.data?.referrals;
      if (!page) break;
      names.push(...page.nodes.map(({ clientName }) => clientName));
      expect(page.edges.map(({ node }) => node)).toEqual(page.nodes);
      expect(page.pageInfo.startCursor).toBe(page.edges[0]?.cursor);
      expect(page.pageInfo.endCursor).toBe(page.edges.at(-1)?.cursor);
      expect(page.pageInfo.hasPreviousPage).toBe(after !== null);
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null);
    expect(names).toEqual(['D', 'C', 'B']);
    const empty = await send(
      '{ referrals(status: DECLINED) { pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }',
    );
    expect(empty.body.data?.referrals).toEqual({
      pageInfo: { startCursor: null, endCursor: null, hasNextPage: false, hasPreviousPage: false },
    });
  });

  test.each([{ first: 0 }, { first: -1 }, { first: 101 }, { first: 1_000_000_000 }, { after: 'x' }, { after: '' }])(
    'rejects the page arguments %o',
    async (variables) => {
      const query = 'query ($first: Int, $after: String) { referrals(first: $first, after: $after) { nodes { id } } }';
      const { status, body } = await send(query, variables);
      expect([status, body.data, body.errors?.[0]?.extensions.code]).toEqual([200, null, 'BAD_USER_INPUT']);
    },
  );
});

const refer = (partnerId: string, clientName: string) =>
  createReferralForPartner(harness.operator, { partnerId, clientName, ...details });

describe('referrals by identifiers', () => {
  const query = 'query ($ids: [ID!]!) { referralsByIds(ids: $ids) { id clientName } }';

  test('are returned in the order of the identifiers, with null for those that the partner does not have', async () => {
    const { partner, otherPartner } = harness.accounts;
    const [a, b, theirs] = [
      await refer(partner.id, 'A'),
      await refer(partner.id, 'B'),
      await refer(otherPartner.id, 'C'),
    ];
    const ids = [
      b.id,
      theirs.id,
      a.id,
      'abc',
      b.id,
      'gid://service/Referral/999999',
      a.id.replace('Referral', 'Matter'),
    ];
    const { status, body } = await send(query, { ids });
    const [shownA, shownB] = [
      { id: a.id, clientName: 'A' },
      { id: b.id, clientName: 'B' },
    ];
    expect([status, body.data]).toEqual([200, { referralsByIds: [shownB, null, shownA, null, shownB, null, null] }]);
    expect((await send(query, { ids: [] })).body.data).toEqual({ referralsByIds: [] });
  });

  test('are at most 100', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `gid://service/Referral/${index + 1}`);
    const { body } = await send(query, { ids });
    expect(body).toMatchObject({
      data: null,
      errors: [
        {
          message: '`ids` can contain at most 100 identifiers; it contains 101.',
          extensions: { code: 'BAD_USER_INPUT' },
        },
      ],
    });
    expect((await send(query, { ids: ids.slice(1) })).body.data).toEqual({ referralsByIds: Array(100).fill(null) });
  });
});

test('says in the extensions when a result is repeated', async () => {
  const document = 'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } } }';
  const input = { clientName: 'Grace Hopper', idempotencyKey: 'grace' };
  const [first, second] = [await send(document, { input }), await send(document, { input })];
  expect(first.body).toEqual({ data: expect.any(Object), extensions: { cost: expect.any(Object) } });
  expect(second.body).toEqual({
    data: first.body.data,
    extensions: { cost: expect.any(Object), idempotency: { replayed: true } },
  });
});

test.each(readdirSync(queriesFolder))('runs the query of an integrator as it stands: %s', async (file) => {
  const { status, body } = await send(readFileSync(new URL(file, queriesFolder), 'utf8'));
  expect([status, body.errors]).toEqual([200, undefined]);
});

test('rejects a time that is none', async () => {
  const query = 'query ($at: DateTime) { referrals(closedAfter: $at) { nodes { id } } }';
  const { body } = await send(query, { at: 'yesterday' });
  expect(body.errors?.[0]).toMatchObject({
    message: expect.stringContaining('A DateTime is an RFC 3339 string with an offset'),
    extensions: { code: 'BAD_USER_INPUT' },
  });
});

test('counts requests in metrics that hold no client id', async () => {
  await send('{ partner { name } }');
  const text = await (await fetch(`${service.adminUrl}/metrics`)).text();
  expect(text).toContain(
    'deedwire_graphql_request_duration_seconds_count{interface="partner",version="2026-11-01",outcome="OK"}',
  );
  expect(text).toContain('process_cpu_seconds_total');
  expect(text).not.toContain(harness.accounts.partner.credential.clientId);
});

const changedSdl = (version: string) => sdl(version).replace('name: String!', 'name: String');

interface Page {
  nodes: { id: string; clientName: string }[];
  edges: { cursor: string; node: { clientName: string } }[];
  pageInfo: { startCursor: string | null; endCursor: string | null; hasNextPage: boolean; hasPreviousPage: boolean };
}

function send<Data = Record<string, unknown>>(
  query: string,
  variables: Record<string, unknown> = {},
  { credential } = harness.accounts.partner,
  { url } = service,
) {
  return postGraphql<Data>(`${url}/partners/graphql`, credential, { query, variables });
}
