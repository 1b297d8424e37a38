import { timeOf, toRecordId } from '@deedwire/core';
import { createHarness, type TestAccount } from '@deedwire/dev-environment/harness';
import { postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import {
  insertAttempts,
  insertDelivery,
  insertPending,
  insertSubscription,
  type StoredDelivery,
} from '../support/stored-deliveries.ts';

const harness = await forFile(createHarness());
const service = await harness.startApi('customer');
await service.whenReady;

const { customer } = harness.accounts;
const stored = await insertSubscription(harness, 'customer', customer);
const failed = await insertDelivery(harness, stored, { eventType: 'order.placed' });
const waiting = await insertDelivery(harness, stored, { sequence: 2, eventType: 'order.placed' });
await insertPending(harness, stored, waiting, { attempts: 1, dueInSeconds: 600 });
await insertAttempts(harness, stored, waiting, [503]);
await harness.sql(
  `with failure as (
     insert into webhook_failed_delivery (subscription_id, delivery_id, interface) values ($1, $2, 'customer')
   )
   insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, error)
   select $2, number, $1, 'customer', '2026-11-02T09:30:01Z', 12,
     case number when 22 then 'ADDRESS_FORBIDDEN' when 21 then 'URL_FORBIDDEN' else 'TIMEOUT' end
   from generate_series(1, 22) number`,
  [stored.id, failed.id],
);

const createdAt = ({ id }: StoredDelivery): string => timeOf(toRecordId(String(id))).toISOString();

const fields = `id subscriptionId sequence sequenceNumber status createdAt attemptCount payload event { id eventId type version timestamp } nextAttemptAt
  attempts { number startedAt durationMs responseStatus error }`;
const first = {
  id: failed.gid,
  subscriptionId: stored.gid,
  sequence: 1,
  sequenceNumber: 1,
  createdAt: createdAt(failed),
  attemptCount: 22,
  payload: null,
  status: 'FAILED',
  event: {
    id: `gid://service/WebhookEvent/${failed.eventId}`,
    eventId: `gid://service/WebhookEvent/${failed.eventId}`,
    type: 'order.placed',
    version: '2026-11-01',
    timestamp: '2026-11-02T09:30:00.000Z',
  },
  nextAttemptAt: null,
  // A response holds only the latest 20 attempts, newest first. 22 exist.
  attempts: Array.from({ length: 20 }, (_, index) => ({
    number: 22 - index,
    startedAt: '2026-11-02T09:30:01.000Z',
    durationMs: 12,
    responseStatus: null,
    // As earlier and present builds store them: a name with a private address, and an address in the URL.
    error: ['DNS_FAILED', 'ADDRESS_FORBIDDEN'][index] ?? 'TIMEOUT',
  })),
};
const second = {
  ...first,
  id: waiting.gid,
  createdAt: createdAt(waiting),
  sequence: 2,
  sequenceNumber: 2,
  attemptCount: 1,
  status: 'PENDING',
  event: {
    ...first.event,
    id: `gid://service/WebhookEvent/${waiting.eventId}`,
    eventId: `gid://service/WebhookEvent/${waiting.eventId}`,
  },
  nextAttemptAt: expect.any(String),
  attempts: [{ ...first.attempts[0], number: 1, responseStatus: 503, error: null }],
};

test('lists deliveries newest first, each with its attempts', async () => {
  expect(await read(`{ webhookDeliveries(first: 3) { nodes { ${fields} } } }`)).toEqual({
    webhookDeliveries: { nodes: [second, first] },
  });
});

test('filters deliveries by subscription and status', async () => {
  expect(await list('status: FAILED')).toEqual(found(first));
  expect(await list(`subscriptionId: "${stored.gid}", first: 1`)).toEqual(found(second));
  expect(await list('subscriptionId: "gid://service/WebhookSubscription/2"')).toEqual(found());
});

test('filters deliveries by event type and time', async () => {
  expect(await list('eventType: "order.placed"')).toEqual(found(second, first));
  expect(await list('eventType: "order.placed", status: FAILED')).toEqual(found(first));
  expect(await list('eventType: "api_key.created"')).toEqual(found());
  expect(await list(`since: "${first.createdAt}"`)).toEqual(found(second, first));
  expect(await list(`until: "${first.createdAt}"`)).toEqual(found());
  expect(await list('since: "2025-01-01T00:00:00Z", until: "2090-01-01T00:00:00Z"')).toEqual(found(second, first));
  expect(await list('eventType: null, since: null, until: null, status: PENDING')).toEqual(found(second));
});

test('continues a page that is short because of the event type where its reading ended', async () => {
  const { otherCustomer } = harness.accounts;
  const subscription = await insertSubscription(harness, 'customer', otherCustomer);
  const oldest = await insertDelivery(harness, subscription, { eventType: 'api_key.created' });
  const firstOther = BigInt(oldest.gid.split('/').at(-1) ?? '') + 10n;
  await harness.sql(
    `insert into webhook_delivery
       (id, subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
     select ${firstOther} + n, ${subscription.id}, ${otherCustomer.accountId}, 'customer', n, 'webhook.test', '2026-11-01', now(), n
     from generate_series(1, 5000) n`,
  );
  const page = async (after: string | null) => {
    const query = `query ($after: String) { webhookDeliveries(eventType: "api_key.created", first: 5, after: $after) {
      nodes { id } pageInfo { endCursor hasNextPage } } }`;
    const { body } = await postGraphql<{ webhookDeliveries: { nodes: object[]; pageInfo: { endCursor: string } } }>(
      `${service.url}/customer/graphql`,
      otherCustomer.credential,
      { query, variables: { after } },
    );
    return body.data?.webhookDeliveries;
  };
  const short = await page(null);
  expect(short).toEqual({ nodes: [], pageInfo: { endCursor: expect.any(String), hasNextPage: true } });
  const last = await page(short?.pageInfo.endCursor ?? null);
  expect(last).toEqual({
    nodes: [{ id: oldest.gid }],
    pageInfo: { endCursor: expect.any(String), hasNextPage: false },
  });
});

type Costs = [requested: number | undefined, actual: number | undefined];

/** The charged cost and the actual one of an operation that reads these pages. */
async function costOf(...pages: string[]): Promise<Costs> {
  return costOfFields(pages.map((page, index) => `a${index}: webhookDeliveries(${page}) { pageInfo { hasNextPage } }`));
}

async function costOfFields(selected: readonly string[]): Promise<Costs> {
  const { body } = await send(`{ ${selected.join(' ')} }`, harness.accounts.otherCustomer);
  const { cost }: { cost?: Record<string, number> } = Object.assign({}, Reflect.get(body, 'extensions'));
  return [cost?.['requestedQueryCost'], cost?.['actualQueryCost']];
}

test('a search for an event type costs a point for each 20 deliveries that it reads, at most the limit', async () => {
  // With half a point for the row of the page, whose items are not selected.
  expect(await costOf('first: 1')).toEqual([3, 4]);
  expect(await costOf('first: 1, eventType: "webhook.test"')).toEqual([3, 9]);
  expect(await costOf('first: 1, eventType: "a"')).toEqual([3, 253]);
  expect(await costOf(...['a', 'b', 'c', 'd', 'e'].map((type) => `first: 1, eventType: "${type}"`))).toEqual([
    11, 1000,
  ]);
});

test('a page without its items costs half a point for each row that it reads', async () => {
  const [, name] = await costOfFields(['webhookDeliveries(first: 100) { __typename }']);
  const twice = ['webhookDeliveries(first: 100) { __typename }', 'b: webhookDeliveries(first: 100) { __typename }'];
  const [, both] = await costOfFields(twice);
  expect([name, both]).toEqual([52, 103]);
  expect(await costOfFields(['webhookDeliveries(first: 100) { nodes @skip(if: true) { id } __typename }'])).toEqual([
    2, 52,
  ]);
  const [requested, actual] = await costOfFields(['webhookDeliveries(first: 100) { nodes { id } }']);
  expect(actual).toBe(requested);
});

function numbered(...expected: number[]) {
  return { attempts: expected.map((number) => ({ number })) };
}

test('returns the attempts that a request asks for', async () => {
  const attempts = (args: string) =>
    send(`{ webhookDelivery(id: "${first.id}") { attempts${args} { number } } }`, customer);
  const numbers = async (args: string) => (await attempts(args)).body.data?.['webhookDelivery'];
  expect(await numbers('(first: 1)')).toEqual(numbered(22));
  expect(await numbers('(first: 2, before: 22)')).toEqual(numbered(21, 20));
  expect(await numbers('(before: 3)')).toEqual(numbered(2, 1));
  expect(await numbers('(before: 1)')).toEqual(numbered());
  expect(await numbers('(first: null, before: null)')).toEqual(numbered(...first.attempts.map(({ number }) => number)));
  for (const [args, message] of [
    ['(first: 0)', '`first` of attempts must be 1 to 20; it is 0.'],
    ['(first: 21)', '`first` of attempts must be 1 to 20; it is 21.'],
    ['(before: 0)', '`before` must be the number of an attempt, 1 or more; it is 0.'],
  ] as const) {
    expect((await attempts(args)).body).toMatchObject({
      data: { webhookDelivery: null },
      errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }],
    });
  }
});

async function pricedAttempts(args: string): Promise<unknown> {
  const { body } = await send(
    `{ webhookDeliveries(first: 2) { nodes { attempts${args} { number } } } }`,
    harness.accounts.customer,
  );
  return body;
}

test('prices attempts by their number', async () => {
  expect(await pricedAttempts('')).toMatchObject({ extensions: { cost: { requestedQueryCost: 14 } } }); // 1 + 2 × (0.5 + 20 × 0.28)
  expect(await pricedAttempts('(first: 20)')).toMatchObject({ extensions: { cost: { requestedQueryCost: 14 } } });
  expect(await pricedAttempts('(first: 1)')).toMatchObject({ extensions: { cost: { requestedQueryCost: 3 } } });
});

const list = (filter: string) => read(`{ webhookDeliveries(${filter}) { nodes { id } } }`);
const found = (...deliveries: { id: string }[]) => ({
  webhookDeliveries: { nodes: deliveries.map(({ id }) => ({ id })) },
});

function send(query: string, { credential }: TestAccount) {
  return postGraphql(`${service.url}/customer/graphql`, credential, { query });
}

async function read(query: string): Promise<Record<string, unknown> | null | undefined> {
  const { body } = await send(query, customer);
  expect(body).not.toHaveProperty('errors');
  return body.data;
}
