import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPricing } from '@deedwire/operation-analysis';
import { costs, sdl } from '@deedwire/partner-schema';
import { buildSchema, graphqlSync, parse } from 'graphql';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCostBuckets } from '../../../../packages/graphql-server/src/cost/cost-buckets.ts';
import { defaultCostLimit } from '../../../../packages/graphql-server/src/cost/open-cost-buckets.ts';
import { selectOperation } from '../../../../packages/graphql-server/src/operation/select-operation.ts';
import { requestLimits } from '../../../../packages/graphql-server/src/request-limits.ts';

// What integrators send has to fit into the bucket that they get. The texts are frozen: they gain no fields of later work.

const version = '2026-11-01';
const schema = buildSchema(sdl(version));
const pricing = createPricing(schema, {
  costs: costs(version),
  operationCostPoints: requestLimits.operationCostPoints,
});

const pageInfo = { endCursor: 'eyJpZCI6IjEyMzQ1Njc4OTAxMjM0NTY3ODkifQ', hasNextPage: true };
const gid = (type: string): string => `gid://service/${type}/4611686018427387904`;
const times = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index));
const page = <Item>(nodes: Item[]) => ({
  nodes,
  edges: nodes.map((node) => ({ cursor: pageInfo.endCursor, node })),
  pageInfo,
});
const at = '2026-11-03T09:30:00.000Z';

const referral = (index: number) => ({
  id: gid('Referral'),
  status: index % 2 === 0 ? 'OPEN' : 'CONVERTED',
  clientName: 'Augusta Ada Lovelace',
  clientEmail: 'ada.lovelace@example.com',
  externalReference: 'CRM-2026-000042',
  note: 'n'.repeat(200),
  createdAt: at,
  closedAt: index % 2 === 0 ? null : at,
  matter: index % 2 === 0 ? null : { id: gid('Matter'), reference: 'M-2026-000042', openedAt: at },
});

/** Half of the referrals are converted, and their notes have 200 characters. */
const seeded = {
  referrals: ({ first }: { first: number }) => page(times(first, referral)),
  referralsByIds: ({ ids }: { ids: string[] }) => ids.map((_, index) => (index === 2 ? null : referral(index))),
  webhookEventTypes: times(5, (index) => ({
    type: `referral.event-${index}`,
    description: 'A referral was converted into a matter.',
    versions: [{ version, status: 'CURRENT', sunsetOn: null }],
  })),
  webhookSubscriptions: page([]),
  webhookDeliveries: ({ first }: { first: number }) => page(times(first, delivery)),
  webhookDelivery: delivery(1),
};

function delivery(sequence: number) {
  return {
    id: gid('WebhookDelivery'),
    subscriptionId: gid('WebhookSubscription'),
    subscription: {
      id: gid('WebhookSubscription'),
      callbackUrl: 'https://hooks.example.com/deedwire',
      status: 'ACTIVE',
      pausedReason: null,
    },
    sequence,
    status: 'FAILED',
    event: { eventId: gid('WebhookEvent'), type: 'referral.converted', version, timestamp: at },
    createdAt: at,
    nextAttemptAt: null,
    attemptCount: 15,
    delay: { reason: 'RETRY_SCHEDULED', since: at, until: at, message: 'm'.repeat(200) },
    attempts: ({ first }: { first: number }) =>
      times(Math.min(first, 15), (number) => ({
        number,
        startedAt: at,
        durationMs: 80,
        responseStatus: 500,
        error: null,
        advice: 'a'.repeat(200),
        exchange: exchange(),
      })),
    payload: JSON.stringify({ id: gid('WebhookEvent'), data: { note: 'n'.repeat(5_000) } }),
  };
}

/** As the receiver of a small company answers with an error page. */
function exchange() {
  return {
    callbackUrl: 'https://hooks.example.com/deedwire',
    requestHeaders: times(17, (index) => ({ name: `x-service-webhook-${index}`, value: 'v'.repeat(60) })),
    remoteAddress: '203.0.113.10',
    dnsMs: 4,
    connectMs: 11,
    tlsMs: 23,
    firstByteMs: 25,
    responseHeaders: times(15, (index) => ({ name: `x-header-${index}`, value: 'v'.repeat(60) })),
    responseBody: '<p class="error">Not found</p>\n'.repeat(300),
    responseBodyBase64: null,
    responseBytes: 9_300,
  };
}

/** The largest and the actual price of a query on the seeded data. */
function priceOf(name: string): { requested: number; actual: number } {
  const source = readFileSync(join(import.meta.dirname, '../../test/firm/queries', `${name}.graphql`), 'utf8');
  const { data, errors } = graphqlSync({ schema, source, rootValue: seeded });
  expect(errors).toBeUndefined();
  const document = parse(source);
  const price = pricing.price(document, selectOperation(document, null), {});
  return { requested: price.requestedQueryCost, actual: price.priceOf(data) };
}

test.each([
  ['delivery-page', { requested: 933, actual: 733 }],
  ['short-delivery-page', { requested: 375, actual: 295 }],
  ['dashboard', { requested: 972, actual: 277 }],
  ['referral-page', { requested: 658, actual: 132 }],
  ['subscription-page', { requested: 132, actual: 3 }],
  ['referral-by-reference', { requested: 10, actual: 10 }],
  ['closed-referrals', { requested: 111, actual: 94 }],
  ['referrals-by-ids', { requested: 19, actual: 3 }],
  ['failed-deliveries', { requested: 208, actual: 133 }],
  ['event-types', { requested: 31, actual: 4 }],
  ['support', { requested: 327, actual: 34 }],
  ['subscription-health', { requested: 162, actual: 1 }],
])('%s costs at most 1,000 points', (name, expected) => {
  expect(priceOf(name)).toEqual(expected);
  expect(expected.requested).toBeLessThanOrEqual(1_000);
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A client of one process, with a full bucket that is settled in 2 ms and regains points by the virtual clock. */
function newClient() {
  let [points, restoredMs] = [defaultCostLimit.maximum, performance.now()];
  const buckets = createCostBuckets({
    async settle(_, { change, needed, least, spare }) {
      await wait(2);
      const nowMs = performance.now();
      points += change + ((nowMs - restoredMs) / 1_000) * defaultCostLimit.restoreRate;
      points = Math.min(defaultCostLimit.maximum, points);
      restoredMs = nowMs;
      const rest = Math.max(0, points - needed);
      const granted = points < least ? 0 : Math.floor(Math.min(points, needed + Math.min(spare, rest / 2)));
      points -= Math.max(0, granted);
      return { granted: Math.max(0, granted), points };
    },
  });

  /** Runs an operation for 20 ms, and returns the seconds of `Retry-After` if it is refused. */
  async function run({ requested, actual }: { requested: number; actual: number }): Promise<number | null> {
    const charge = await buckets.charge('a', defaultCostLimit, requested);
    if (!charge.admitted) return Math.ceil(charge.retryAfterMs / 1_000);
    await wait(20);
    buckets.refund('a', defaultCostLimit, requested - actual);
    charge.end();
    return null;
  }
  return run;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Passes virtual time until the work is done. */
async function inVirtualTime<Result>(work: Promise<Result>): Promise<Result> {
  let isDone = false;
  void work.finally(() => (isDone = true));
  while (!isDone) await vi.advanceTimersByTimeAsync(1);
  return work;
}

test.each([
  ['6 parallel pages of referrals', 'referral-page', 6],
  ['8 parallel lists of subscriptions', 'subscription-page', 8],
])('a full bucket admits %s', async (_, name, count) => {
  const [run, price] = [newClient(), priceOf(name)];
  const refusals = await inVirtualTime(Promise.all(times(count, () => run(price))));
  expect(refusals.filter((seconds) => seconds !== null)).toEqual([]);
});

test.each([1, 6])(
  'a first sync of 10,000 referrals, %i pages at a time, takes at most 60 seconds',
  async (parallel) => {
    const [run, price] = [newClient(), priceOf('referral-page')];
    let left = 100;
    async function work(): Promise<void> {
      while (left > 0) {
        left -= 1;
        for (let seconds = await run(price); seconds !== null; seconds = await run(price)) await wait(seconds * 1_000);
      }
    }
    const startMs = performance.now();
    await inVirtualTime(Promise.all(times(parallel, work)));
    expect((performance.now() - startMs) / 1_000).toBeLessThanOrEqual(60);
  },
);
