import { convertReferral, declineReferral } from '@deedwire/actions';
import { joinSharedSystem, type SharedSystem } from '@deedwire/dev-environment/harness';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as operations from '../consumers/referral-portal/generated/2026-11-01.ts';

let t: SharedSystem;

beforeAll(async () => {
  t = await joinSharedSystem();
});

afterAll(() => t.close());

test('returns the account of the client', async () => {
  expect(await t.partner.request(operations.MeDocument, {})).toEqual({
    partner: { id: t.accounts.partner.id, name: 'Keystone Estate Agents' },
  });
});

test('returns a referral and the served version, without caching, to a client without a version header', async () => {
  const response = await fetch(t.urls.partner, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Client-Id': t.accounts.partner.credential.clientId,
      'X-Service-API-Key': t.accounts.partner.credential.apiKey,
      'X-Service-Organization-Id': t.accounts.partner.credential.organizationId,
    },
    body: JSON.stringify({ query: `{ referral(id: "${t.referrals[0]}") { id } }` }),
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-service-schema-version')).toBe('2026-11-01');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual({ data: { referral: { id: t.referrals[0] } }, extensions: expect.any(Object) });
});

test('returns a created referral by id and as the first of the list', async () => {
  const input = {
    clientName: 'Zoë Ångström 😀',
    clientEmail: 'zoe@example.com',
    externalReference: 'CRM-1',
    note: 'Urgent.',
  };
  const { createReferral } = await t.partner.request(operations.ReferDocument, { input });
  expect(createReferral.userErrors).toEqual([]);
  const { referral } = createReferral;
  expect(referral).toEqual({
    ...input,
    id: expect.stringMatching(/^gid:\/\/service\/Referral\/\d+$/),
    status: 'OPEN',
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    closedAt: null,
    matter: null,
  });
  const id = referral?.id ?? '';
  expect(await t.partner.request(operations.ReferralDocument, { id })).toEqual({ referral });
  const { referrals } = await t.partner.request(operations.ReferralsDocument, { first: 1 });
  expect(referrals.nodes).toEqual([referral]);
  expect(referrals.pageInfo).toEqual({ hasNextPage: true, endCursor: referrals.edges[0]?.cursor });
});

test('returns a user error with its field for each problem of an input', async () => {
  const input = { clientName: ' ', clientEmail: 'nobody', externalReference: '', note: 'x'.repeat(5_001) };
  const { createReferral } = await t.partner.request(operations.ReferDocument, { input });
  expect(createReferral.referral).toBeNull();
  expect(createReferral.userErrors.map(({ code, field }) => [code, field])).toEqual([
    ['CLIENT_NAME_INVALID', ['input', 'clientName']],
    ['CLIENT_EMAIL_INVALID', ['input', 'clientEmail']],
    ['EXTERNAL_REFERENCE_INVALID', ['input', 'externalReference']],
    ['NOTE_INVALID', ['input', 'note']],
  ]);
});

test('returns the same referral for a reused idempotency key, and an error when the input differs', async () => {
  const input = { clientName: 'Twice', idempotencyKey: 'order-4711' };
  const first = await t.partner.request(operations.ReferDocument, { input });
  const second = await t.partner.request(operations.ReferDocument, { input });
  expect(second).toEqual(first);
  const other = await t.partner.request(operations.ReferDocument, { input: { ...input, clientName: 'Thrice' } });
  expect(other.createReferral.userErrors).toMatchObject([
    { code: 'IDEMPOTENCY_KEY_REUSED', field: ['input', 'idempotencyKey'] },
  ]);
  // Idempotency keys are scoped to the account.
  const elsewhere = await t.otherPartner.request(operations.ReferDocument, { input });
  expect(elsewhere.createReferral.referral?.id).not.toBe(first.createReferral.referral?.id);
});

test('shows on a referral that it was converted or declined', async () => {
  const [converted = '', declined = ''] = t.referrals.slice(-2);
  const { matterId } = await convertReferral(t.operator, { referralId: converted });
  await declineReferral(t.operator, { referralId: declined, reason: 'Outside of our area.' });
  expect((await t.partner.request(operations.ReferralDocument, { id: converted })).referral).toMatchObject({
    status: 'CONVERTED',
    closedAt: expect.any(String),
    matter: { id: matterId, reference: expect.stringMatching(/^M-\d{4}-\d{6}$/), openedAt: expect.any(String) },
  });
  expect((await t.partner.request(operations.ReferralDocument, { id: declined })).referral).toMatchObject({
    status: 'DECLINED',
    closedAt: expect.any(String),
    matter: null,
  });
  const { referrals } = await t.partner.request(operations.ReferralsDocument, { status: 'DECLINED', first: 100 });
  expect(referrals.nodes.map(({ id }) => id)).toEqual([declined]);
});

test('lists all referrals over several pages without gaps or repeats', async () => {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const page: operations.ReferralsQuery = await t.partner.request(operations.ReferralsDocument, {
      first: 7,
      after,
      status: 'OPEN',
    });
    ids.push(...page.referrals.nodes.map(({ id }) => id));
    after = page.referrals.pageInfo.hasNextPage ? page.referrals.pageInfo.endCursor : null;
  } while (after !== null);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(20);
  const numbers = ids.map((id) => BigInt(id.split('/').at(-1) ?? ''));
  expect(numbers).toEqual(numbers.toSorted((a, b) => (a < b ? 1 : -1)));
});

test.each([{ first: 0 }, { first: 101 }, { first: 1_000_000_000 }, { after: 'nonsense' }])(
  'rejects invalid page arguments: %j',
  async (variables) => {
    const { status, errors } = await t.partner.send(operations.ReferralsDocument, variables);
    expect(status).toBe(200);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' }, path: ['referrals'] }]);
  },
);

test.each(['\0', '\ud800'])('rejects text that PostgreSQL cannot store: %j', async (text) => {
  const input = { clientName: 'Ada', note: `x${text}` };
  const { status, errors } = await t.partner.send(operations.ReferDocument, { input });
  expect(status).toBe(200);
  expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
});

test.each([
  ['of another tenant', () => t.referrals[0] ?? '', () => t.otherPartner],
  ['with the id of another type', () => 'gid://service/Matter/1', () => t.partner],
  ['with an id of another namespace', () => 'gid://elsewhere/Referral/1', () => t.partner],
  ['with an unknown id', () => 'gid://service/Referral/9223372036854775807', () => t.partner],
  ['with an id that is too large', () => 'gid://service/Referral/99999999999999999999', () => t.partner],
  ['with a malformed id', () => "'; drop table referral; --", () => t.partner],
  ['with an empty id', () => '', () => t.partner],
])('returns null for a referral %s', async (_, id, client) => {
  const { status, data, errors } = await client().send(operations.ReferralDocument, { id: id() });
  expect({ status, data, errors }).toEqual({ status: 200, data: { referral: null }, errors: [] });
});
