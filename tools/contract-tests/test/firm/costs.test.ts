import { forTest } from '@deedwire/testing/for-file';
import { getIntrospectionQuery } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { type LargestApi, pricedVersions, startLargestApi } from './support/cost-property.ts';
import { referenceContracts } from './support/reference-contracts.ts';

// `test/firm/long/costs.test.ts` runs thousands of random operations, and texts of longer characters.
const seed = 20_261_120;
const rounds = 30;

const referral =
  'id status clientName clientEmail externalReference note createdAt closedAt matter { id reference openedAt }';
const subscription = 'id callbackUrl status pausedReason pausedAt eventTypes { type version } createdAt';
const delivery = 'id subscriptionId sequence status event { eventId type version timestamp } nextAttemptAt';
const attempt = 'number startedAt durationMs responseStatus error';
const pageInfo = 'pageInfo { endCursor hasNextPage }';

/** The interface, the version, an operation and its cost in points. */
const largePages = [
  ['lender', '2026-11-01', `{ lender { id name members { id firstName lastName email } } }`, 219],
  [
    'lender',
    '2027-02-01',
    `{ lender { id name members(first: 100) { edges { cursor node { id firstName lastName email } } ${pageInfo} } } }`,
    144,
  ],
  ['partner', '2026-11-01', `{ referrals(first: 100) { nodes { ${referral} } ${pageInfo} } }`, 658],
  ['partner', '2026-11-01', `{ referrals(first: 100) { edges { cursor node { ${referral} } } ${pageInfo} } }`, 686],
  [
    'partner',
    '2026-11-01',
    `{ referrals(first: 100) { nodes { ${referral} } edges { cursor node { id } } ${pageInfo} } }`,
    739,
  ],
  ['partner', '2026-11-01', `{ webhookSubscriptions(first: 100) { nodes { ${subscription} } ${pageInfo} } }`, 132],
  ['partner', '2026-11-01', `{ webhookDeliveries(first: 100) { nodes { ${delivery} } ${pageInfo} } }`, 105],
  [
    'partner',
    '2026-11-01',
    `{ webhookDeliveries(first: 100) { nodes { ${delivery} attempts { ${attempt} } } edges { cursor } ${pageInfo} } }`,
    933,
  ],
] as const;

describe.each(pricedVersions)('$name $version', ({ name, version }) => {
  let api: LargestApi;
  beforeAll(async () => {
    api = await startLargestApi(name, version, 'x');
    return () => api.close();
  });

  test('a random operation pays for its objects and bytes, and answers at most 1 MB', async () => {
    const outcome = await api.run(seed, rounds);
    expect(outcome.problems).toEqual([]);
    // Prices alone keep responses below 1 MB.
    expect(outcome.tooLarge).toBe(0);
    expect(outcome.executed).toBeGreaterThan(rounds / 4);
    expect(outcome.tooExpensive).toBeGreaterThan(0);
  });

  test.each([
    {},
    { descriptions: false },
    { schemaDescription: true, specifiedByUrl: true, inputValueDeprecation: true },
  ])('runs getIntrospectionQuery(%j)', async (options) => {
    const { status, body, bytes } = await api.post({ query: getIntrospectionQuery(options) });
    expect([status, body.errors]).toEqual([200, undefined]);
    const { requestedQueryCost = 0, actualQueryCost: cost = 0 } = body.extensions?.cost ?? {};
    expect(requestedQueryCost).toBe(1_000);
    expect(cost).toBeGreaterThanOrEqual(Math.floor(bytes / 1000));
    expect(cost).toBeLessThan(300);
  });

  test('runs every example of the reference', async () => {
    const contract = referenceContracts.find((each) => each.name === name);
    const examples = contract?.versions.find((each) => each.version === version)?.examples ?? [];
    expect(examples).not.toEqual([]);
    for (const { path, document, exchanges } of examples) {
      for (const { variables } of exchanges) {
        const { status, body } = await api.post({ query: document, variables });
        expect([path, status, body.errors]).toEqual([path, 200, undefined]);
      }
    }
  });

  test.each(largePages.filter((page) => page[0] === name && page[1] === version))(
    'serves a large page (%s %s): %s',
    async (_name, _version, query, points) => {
      const { status, body, bytes } = await api.post({ query });
      expect([status, body.errors]).toEqual([200, undefined]);
      expect(body.extensions?.cost).toMatchObject({ requestedQueryCost: points, actualQueryCost: points });
      expect(bytes).toBeLessThan(points * 1000);
    },
  );

  test('rejects a small introspection query with a large response', async () => {
    const types = Array.from({ length: 30 }, (_, i) => `t${i}:types{...T}`).join(' ');
    const fields = 'fields{description args{description}type{description ofType{description fields{description}}}}';
    const query = `{__schema{${types}}} fragment T on __Type{description ${fields}}`;
    expect(query.length).toBeLessThan(922);
    const { status, body } = await api.post({ query });
    expect([status, body.errors?.[0]?.message]).toEqual([
      200,
      'The field __schema, and fields below __schema and __type, can have no aliases.',
    ]);
  });
});

test('replaces a response of more than 1 MB', async () => {
  const api = await forTest(startLargestApi('partner', '2026-11-01', '\u{1F600}'));
  const { status, body } = await api.post({ query: '{ referrals(first: 100) { nodes { note } } }' });
  expect([status, body.data, body.errors?.map(({ message }) => message)]).toEqual([
    200,
    undefined,
    [
      expect.stringMatching(
        /^The response has 2,001,\d{3} bytes; at most 1,000,000 are allowed\. Request fewer items or fields\.$/,
      ),
    ],
  ]);
  const { bytes } = await api.post({ query: '{ referrals(first: 45) { nodes { note } } }' });
  expect(bytes).toBeGreaterThan(900_000);
});
