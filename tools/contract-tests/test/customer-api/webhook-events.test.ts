import { setTimeout as sleep } from 'node:timers/promises';
import { issueCredential, revokeCredential } from '@deedwire/actions';
import { idAt } from '@deedwire/core';
import { createHarness } from '@deedwire/dev-environment/harness';
import { createStore } from '@deedwire/store';
import { type Credential, credentialHeaders, postGraphql, startReceiver } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  insertDelivery,
  insertPayload,
  insertSubscription,
  type StoredDelivery,
  type StoredSubscription,
} from '../support/stored-deliveries.ts';

let subscription: StoredSubscription;

const harness = await forFile(createHarness());
const service = await harness.startApi('customer');
await service.whenReady;
beforeEach(async () => {
  subscription = await insertSubscription(harness, 'customer', harness.accounts.customer);
  await harness.sql(
    `update webhook_subscription_sequence set last_sequence = 0 where subscription_id = ${subscription.id}`,
  );
  await harness.sql('update webhook_retention set expired_before = 0');
});

/** Inserts the next delivery of a subscription, with the body `{"n":<sequence>}`. */
async function deliver(to = subscription, createdAt = new Date()): Promise<StoredDelivery> {
  const [row] = await harness.sql(
    `select last_sequence + 1 as next from webhook_subscription_sequence where subscription_id = ${to.id}`,
  );
  const delivery = await insertDelivery(harness, to, { sequence: Number(row?.['next']), createdAt });
  await insertPayload(harness, to, delivery, Buffer.from(`{"n":${delivery.sequence}}`));
  await harness.sql(
    `update webhook_subscription_sequence set last_sequence = ${delivery.sequence} where subscription_id = ${to.id}`,
  );
  return delivery;
}

interface Connection {
  edges: { cursor: string; sequence: number; node: { deliveryId: string; payload: string | null } }[];
  pageInfo: { endCursor: string; hasNextPage: boolean };
  lastSequence: number;
  firstKeptSequence: number | null;
}

const fields = `edges { cursor sequence node { id eventId deliveryId type version timestamp isTest payload } }
  pageInfo { startCursor endCursor hasNextPage hasPreviousPage } lastSequence firstKeptSequence`;

async function send(
  query: string,
  variables: object = {},
  credential: Credential = harness.accounts.customer.credential,
) {
  const { status, headers, body } = await postGraphql<{ webhookEvents: Connection | null }>(
    `${service.url}/customer/graphql`,
    credential,
    { query, variables, headers: { accept: 'application/graphql-response+json' } },
  );
  const cost: unknown = Reflect.get(Object(Reflect.get(body, 'extensions')), 'cost');
  return { status, headers, data: body.data, errors: body.errors, cost };
}

const query = `query ($id: ID!, $first: Int, $after: String, $since: DateTime, $waitSeconds: Int) {
  webhookEvents(subscriptionId: $id, first: $first, after: $after, since: $since, waitSeconds: $waitSeconds) { ${fields} }
}`;

const pull = (variables: object = {}) => send(query, { id: subscription.gid, ...variables });

async function page(variables: object = {}): Promise<Connection> {
  const { data, errors } = await pull(variables);
  if (!data?.webhookEvents) throw new Error(JSON.stringify(errors));
  return data.webhookEvents;
}

const sequences = ({ edges }: Connection): number[] => edges.map(({ sequence }) => sequence);

test('returns what is pushed, byte for byte', async () => {
  const receiver = await forTest(startReceiver());
  const worker = await harness.startWorker();
  onTestFinished(() => harness.stopWorker(worker));
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(5);
  const pushed = await receiver.waitFor(5);
  const connection = await page({ id });
  const { edges } = connection;
  expect(edges.map(({ sequence, node }) => [String(sequence), node.deliveryId, node.payload])).toEqual(
    pushed
      .map(({ headers, body }) => [headers['x-service-webhook-sequence'], headers['webhook-id'], String(body)])
      .toSorted(([one], [other]) => Number(one) - Number(other)),
  );
  const body = JSON.parse(edges[0]?.node.payload ?? '');
  expect(edges[0]?.node).toMatchObject({
    id: body.id,
    eventId: body.id,
    type: 'order.placed',
    version: body.version,
    timestamp: body.timestamp,
    isTest: false,
  });
  expect(connection).toMatchObject({ lastSequence: 5, firstKeptSequence: 1 });
});

test('pages continue each other, in the order of sequences', async () => {
  for (let count = 0; count < 5; count += 1) await deliver();
  const first = await page({ first: 2 });
  expect(sequences(first)).toEqual([1, 2]);
  expect(first.pageInfo).toEqual({
    startCursor: first.edges[0]?.cursor,
    endCursor: first.edges[1]?.cursor,
    hasNextPage: true,
    hasPreviousPage: false,
  });
  const second = await page({ first: 3, after: first.pageInfo.endCursor });
  expect([sequences(second), second.pageInfo]).toMatchObject([
    [3, 4, 5],
    { hasNextPage: false, hasPreviousPage: true },
  ]);
  const { pageInfo, ...empty } = await page({ after: second.pageInfo.endCursor });
  expect(empty).toEqual({ edges: [], lastSequence: 5, firstKeptSequence: 1 });
  expect(pageInfo).toEqual({
    startCursor: null,
    endCursor: second.pageInfo.endCursor,
    hasNextPage: false,
    hasPreviousPage: true,
  });
});

test('a receiver that begins before the first event misses none', async () => {
  const { pageInfo, lastSequence, firstKeptSequence } = await page();
  expect([lastSequence, firstKeptSequence]).toEqual([0, null]);
  // The time of an event has milliseconds.
  await deliver(subscription, new Date(Date.now() - 1_000));
  const delivery = await deliver();
  expect(sequences(await page({ after: pageInfo.endCursor }))).toEqual([1, 2]);
  const since = await page({ since: new Date(Date.now() + 60_000).toISOString() });
  expect(sequences(since)).toEqual([]);
  await deliver();
  expect(sequences(await page({ after: since.pageInfo.endCursor }))).toEqual([3]);
  const createdAt = Number(delivery.id >> 22n) + Date.UTC(2026, 0, 1);
  expect(sequences(await page({ since: new Date(createdAt).toISOString() }))).toEqual([2, 3]);
});

/** A time as a clock that is ahead of UTC shows it. */
function local(ms: number, hours: number): string {
  const shown = new Date(ms + hours * 3_600_000).toISOString().slice(0, -1);
  return `${shown}+${String(hours).padStart(2, '0')}:00`;
}

test('a first page starts at a time of any zone, of before there were events, and of the future', async () => {
  const betweenMs = Date.now() - 1_000;
  await deliver(subscription, new Date(betweenMs - 1_000));
  await deliver();
  const starts: [since: string, expected: number[]][] = [
    ['0001-01-01T00:00:00Z', [1, 2]],
    ['2025-12-31T23:59:59.999Z', [1, 2]],
    ['9999-12-31T23:59:59.999Z', []],
    [local(betweenMs, 2), [2]],
    // The same clock time after it was set back, as at the end of summer time.
    [local(betweenMs + 3_600_000, 1), []],
    [local(betweenMs - 3_600_000, 3), [1, 2]],
  ];
  for (const [since, expected] of starts) {
    const connection = await page({ since });
    expect([since, sequences(connection)]).toEqual([since, expected]);
    expect(sequences(await page({ after: connection.pageInfo.endCursor }))).toEqual([]);
  }
});

test('a first page without events is continued at the price of a page, however many events there were', async () => {
  await deliver();
  await harness.sql(
    `insert into webhook_delivery
       (id, subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
     select id - 60000 * 4194304::bigint + n, subscription_id, account_id, interface, event_id, event_type, event_version,
       occurred_at, 1 + n
     from webhook_delivery, generate_series(1, 700) n
     where subscription_id = ${subscription.id}`,
  );
  await harness.sql(
    `update webhook_subscription_sequence set last_sequence = 701 where subscription_id = ${subscription.id}`,
  );
  const since = new Date(Date.now() + 60_000).toISOString();
  const { pageInfo, ...empty } = await page({ since, first: 1 });
  expect(empty).toMatchObject({ edges: [], lastSequence: 701 });
  await deliver();
  const { data, cost } = await pull({ after: pageInfo.endCursor, first: 1 });
  expect(data?.webhookEvents?.edges).toMatchObject([{ sequence: 702 }]);
  expect(cost).toMatchObject({ actualQueryCost: expect.toSatisfy((points: number) => points < 100) });
  // A cursor that is not ours pays for what it reads.
  const text = `webhookEvents:${subscription.id}.600.~1`;
  const forged = await pull({ after: Buffer.from(text).toString('base64url'), first: 1 });
  expect(forged.data?.webhookEvents?.edges).toMatchObject([{ sequence: 601 }]);
  expect(forged.cost).toMatchObject({ actualQueryCost: expect.toSatisfy((points: number) => points >= 500) });
});

test('is null for a subscription that does not exist', async () => {
  for (const id of [subscription.gid.replace(/\d+$/, '123'), 'x', '']) {
    expect(await pull({ id, waitSeconds: 20 })).toMatchObject({ status: 200, data: { webhookEvents: null } });
  }
});

describe('refuses', () => {
  test.each<[string, object, string]>([
    ['no events', { first: 0 }, '`first` must be 1 to 100; it is 0.'],
    ['101 events', { first: 101 }, '`first` must be 1 to 100; it is 101.'],
    ['a wait of 21 s', { waitSeconds: 21 }, '`waitSeconds` must be 0 to 20; it is 21.'],
    ['a wait of -1 s', { waitSeconds: -1 }, '`waitSeconds` must be 0 to 20; it is -1.'],
    ['a text that is no cursor', { after: 'x' }, '`after` is not a cursor of `webhookEvents`.'],
    [
      'a cursor of another list',
      { after: Buffer.from('webhookDeliveries:1').toString('base64url') },
      '`after` is not a cursor of `webhookEvents`.',
    ],
    [
      'a cursor of another subscription',
      { after: Buffer.from('webhookEvents:1.1.1').toString('base64url') },
      '`after` is a cursor of another subscription.',
    ],
  ])('%s', async (_, variables, message) => {
    expect(await pull(variables)).toMatchObject({
      status: 200,
      data: { webhookEvents: null },
      errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }],
    });
  });

  test('a cursor that is ahead, and one together with a time', async () => {
    await deliver();
    const after = Buffer.from(`webhookEvents:${subscription.id}.2.5`).toString('base64url');
    expect((await pull({ after })).errors).toMatchObject([
      { message: '`after` is not a cursor of an event of this subscription.' },
    ]);
    expect(
      (await pull({ after: (await page()).pageInfo.endCursor, since: '2026-11-01T00:00:00Z' })).errors,
    ).toMatchObject([{ message: '`after` continues at its event, so it cannot be combined with `since`.' }]);
  });
});

test('a cursor whose next event has expired fails with CURSOR_EXPIRED', async () => {
  const { pageInfo } = await page();
  for (let count = 0; count < 3; count += 1) await deliver();
  const fourth = await deliver();
  const last = await deliver();
  await harness.sql(`update webhook_retention set expired_before = ${fourth.id}`);
  expect(await pull({ after: pageInfo.endCursor })).toMatchObject({
    status: 200,
    data: { webhookEvents: null },
    errors: [
      {
        message: 'The event after this cursor is no longer kept. The first one that is kept has the sequence 4.',
        path: ['webhookEvents'],
        extensions: { code: 'CURSOR_EXPIRED', firstKeptSequence: 4 },
      },
    ],
  });
  const rest = await page();
  expect([sequences(rest), rest.firstKeptSequence]).toEqual([[4, 5], 4]);
  await harness.sql(`update webhook_retention set expired_before = ${last.id + 1n}`);
  expect((await pull({ after: pageInfo.endCursor })).errors).toMatchObject([
    { message: expect.stringContaining('No event is kept.'), extensions: { firstKeptSequence: null } },
  ]);
  expect(await page()).toMatchObject({ edges: [], lastSequence: 5, firstKeptSequence: null });
});

async function alarms(): Promise<number> {
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  return Number(/deedwire_alarms_total\{alarm="webhook-event-missing"\} (\d+)/.exec(metrics)?.[1] ?? 0);
}

test('a cursor of an event that a restore of the database lost is refused, even when another event has its sequence', async () => {
  for (let count = 0; count < 2; count += 1) await deliver();
  const kept = (await page()).pageInfo.endCursor;
  await deliver();
  const lost = (await page()).pageInfo.endCursor;
  // What a restore to a time before the third event leaves.
  await harness.sql(`delete from webhook_delivery where subscription_id = ${subscription.id} and sequence = 3`);
  await harness.sql(
    `update webhook_subscription_sequence set last_sequence = 2 where subscription_id = ${subscription.id}`,
  );
  for (let count = 0; count < 2; count += 1) await deliver();
  expect(await pull({ after: lost })).toMatchObject({
    data: { webhookEvents: null },
    errors: [
      {
        message: '`after` is not a cursor of an event of this subscription.',
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ],
  });
  expect(sequences(await page({ after: kept }))).toEqual([3, 4]);
});

test('an event that is missing is never skipped: 503 and an alarm', async () => {
  const before = await alarms();
  for (let count = 0; count < 4; count += 1) await deliver();
  const { edges } = await page();
  await harness.sql(`delete from webhook_delivery where subscription_id = ${subscription.id} and sequence = 3`);
  const short = await page();
  expect([sequences(short), short.pageInfo.hasNextPage, await alarms()]).toEqual([[1, 2], true, before + 1]);
  const { status, headers, data, errors } = await pull({ after: edges[1]?.cursor });
  expect({ status, data, retry: headers.get('Retry-After') }).toEqual({ status: 503, data: undefined, retry: '5' });
  expect(errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
  expect(await alarms()).toBe(before + 2);
  expect(sequences(await page({ after: edges[3]?.cursor }))).toEqual([]);
});

test.each<[string, object]>([
  ['all events', {}],
  ['the events of a time', { since: new Date(Date.now() + 86_400_000).toISOString() }],
])('a page of %s is not empty because the last event is missing', async (_, variables) => {
  await deliver();
  expect(sequences(await page(variables))).toEqual(Object.keys(variables).length === 0 ? [1] : []);
  const before = await alarms();
  await harness.sql(`delete from webhook_delivery where subscription_id = ${subscription.id}`);
  expect((await pull(variables)).status).toBe(503);
  expect(await alarms()).toBe(before + 1);
});

test('so is one whose payload is missing, unless no payload is asked for', async () => {
  const delivery = await deliver();
  await harness.sql(`delete from webhook_payload where event_id = ${delivery.eventId}`);
  expect((await pull()).status).toBe(503);
  const withoutPayload = `query ($id: ID!) { webhookEvents(subscriptionId: $id) { edges { sequence } } }`;
  expect((await send(withoutPayload, { id: subscription.gid })).data).toEqual({
    webhookEvents: { edges: [{ sequence: 1 }] },
  });
  await harness.sql(
    `insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, error)
     values (${delivery.id}, 1, ${subscription.id}, 'customer', now(), 0, 'RENDERING_FAILED')`,
  );
  expect((await page()).edges).toMatchObject([{ sequence: 1, node: { payload: null } }]);
});

async function pageNumberedUntil(): Promise<Date> {
  const read = 'query ($id: ID!) { webhookEvents(subscriptionId: $id) { numberedUntil } }';
  const { data, errors } = await send(read, { id: subscription.gid });
  const text: unknown = Reflect.get(Object(data?.webhookEvents), 'numberedUntil');
  if (typeof text !== 'string') throw new Error(JSON.stringify(errors));
  return new Date(text);
}

describe('numberedUntil', () => {
  const minuteMs = 60_000;

  /** Appends an entry as it waits for its fan-out, of an event that was created at this time. */
  async function append(accountId: string, createdAt: Date | null, blockedOn: string | null = null): Promise<void> {
    const eventId = createdAt && idAt(createdAt);
    await harness.sql(
      `insert into webhook_event_queue (account_id, interface, event_id, subscription_id, blocked_on)
       values ($1, 'customer', $2::bigint, case when $2::bigint is null then 1 end, $3)`,
      [accountId, eventId, blockedOn],
    );
    onTestFinished(async () => void (await harness.sql('delete from webhook_event_queue')));
  }

  const { accountId } = harness.accounts.customer;
  const ago = (minutes: number): Date => new Date(Date.now() - minutes * minuteMs);

  test('is a minute before the read while only events of other accounts wait', async () => {
    // In the same shard.
    const [other] = await harness.sql(
      `insert into account (id, interface, organization_id, name)
       select id + 64, interface, organization_id, name from account where id = ${accountId}
       returning id`,
    );
    await append(String(other?.['id']), ago(90));
    await append(String(other?.['id']), ago(90), 'REFUSED');
    await append(accountId, null);
    const before = ago(1);
    const found = await pageNumberedUntil();
    expect(found >= before && found <= ago(1)).toBe(true);
  });

  test.each([
    ['ready', null, null],
    ['of an unknown type', 'order.placed', 'order.placed'],
    ['refused', 'REFUSED', 'order.placed'],
  ])(
    'is a minute before the creation of the oldest event of the account that waits and is %s',
    async (_, blocked, others) => {
      const oldest = ago(30);
      await append(accountId, null, blocked);
      await append(accountId, oldest, blocked);
      await append(accountId, ago(20), others);
      await append(accountId, ago(10));
      expect(await pageNumberedUntil()).toEqual(new Date(oldest.getTime() - minuteMs));
    },
  );

  test('is kept from the login of another interface', async () => {
    await append(accountId, ago(30));
    const oldest = async (role: 'supplier_api' | 'customer_api'): Promise<unknown> => {
      const store = createStore({ databaseUrl: await harness.database.urlFor(role), applicationName: 'test' });
      onTestFinished(() => store.close());
      const text = 'select webhook_oldest_queued_event($1::bigint) as oldest';
      const [row] = await store.query<{ oldest: unknown }>({ name: 'oldest', text }, [accountId]);
      return row?.oldest;
    };
    expect(await oldest('customer_api')).not.toBeNull();
    expect(await oldest('supplier_api')).toBeNull();
  });
});

test('a page ends before 400,000 bytes, and costs what it has', async () => {
  for (let count = 0; count < 4; count += 1) {
    const { eventId } = await deliver();
    await harness.sql(
      `update webhook_payload set body = convert_to(repeat('x', 150000), 'UTF8') where event_id = ${eventId}`,
    );
  }
  const text = `query ($id: ID!, $after: String) { webhookEvents(subscriptionId: $id, first: 100, after: $after) {
    edges { sequence node { payload } } pageInfo { endCursor hasNextPage } } }`;
  const first = await send(text, { id: subscription.gid });
  // 1 + 1 + 0.06 + 100 × (0.25 + 0.03 + 0.5) + 400
  expect(first.cost).toMatchObject({ requestedQueryCost: 481, actualQueryCost: 304 });
  expect(first.data?.webhookEvents).toMatchObject({
    edges: [{ sequence: 1 }, { sequence: 2 }],
    pageInfo: { hasNextPage: true },
  });
  const after = first.data?.webhookEvents?.pageInfo.endCursor;
  const second = await send(text, { id: subscription.gid, after });
  expect(second.data?.webhookEvents).toMatchObject({
    edges: [{ sequence: 3 }, { sequence: 4 }],
    pageInfo: { hasNextPage: false },
  });
});

async function waiting({ adminUrl } = service): Promise<number> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/deedwire_webhook_event_waits\{interface="customer"\} (\d+)/.exec(metrics)?.[1] ?? Number.NaN);
}

async function untilWaiting(count: number, running = service): Promise<void> {
  await expect.poll(() => waiting(running)).toBe(count);
}

describe('a request that waits', () => {
  test('is answered when an event arrives', async () => {
    const answer = page({ waitSeconds: 20 });
    await untilWaiting(1);
    await deliver();
    expect(sequences(await answer)).toEqual([1]);
    await untilWaiting(0);
  });

  test('is answered at once if there is an event', async () => {
    await deliver();
    expect(sequences(await page({ waitSeconds: 20 }))).toEqual([1]);
  });

  test('is answered without events after its time', async () => {
    const startMs = performance.now();
    const { edges, pageInfo } = await page({ waitSeconds: 1 });
    expect(edges).toEqual([]);
    expect(performance.now() - startMs).toBeGreaterThan(990);
    await deliver();
    expect(sequences(await page({ after: pageInfo.endCursor }))).toEqual([1]);
  });

  test('waits in one field', async () => {
    const wait = `webhookEvents(subscriptionId: "${subscription.gid}", first: 1, waitSeconds: 20) { edges { sequence } }`;
    const answer = send(`{ one: ${wait} other: ${wait} }`);
    await untilWaiting(1);
    await deliver();
    // Each field reads on its own connection. The one that is first waits, and the other one may read before the delivery.
    const [full, empty] = [{ edges: [{ sequence: 1 }] }, { edges: [] }];
    expect([
      { one: full, other: empty },
      { one: empty, other: full },
      { one: full, other: full },
    ]).toContainEqual((await answer).data);
  });

  test('returns nothing if the API key is revoked meanwhile', async () => {
    const { id: accountId } = harness.accounts.customer;
    const credential = await issueCredential(harness.operator, {
      interfaceName: 'customer',
      accountId,
      clientId: null,
    });
    const answer = send(query, { id: subscription.gid, waitSeconds: 20 }, credential);
    await untilWaiting(1);
    await revokeCredential(harness.operator, { keyId: credential.apiKey.split('_')[2] ?? '' });
    // As long as a key may be accepted after it was revoked.
    await sleep(1_000);
    await deliver();
    expect(await answer).toMatchObject({
      data: { webhookEvents: null },
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    });
  });

  test.each([
    'update webhook_subscription set deleted_at = now() where id = $1',
    // As the worker does soon afterwards.
    `with pins as (delete from webhook_subscription_event_type where subscription_id = $1),
       sequence as (delete from webhook_subscription_sequence where subscription_id = $1)
     delete from webhook_subscription where id = $1`,
  ])('is null if the subscription is deleted meanwhile, before the end of the wait: %s', async (statement) => {
    const answer = pull({ waitSeconds: 20 });
    await untilWaiting(1);
    const startMs = performance.now();
    await harness.sql(statement, [subscription.id]);
    expect((await answer).data).toEqual({ webhookEvents: null });
    expect(performance.now() - startMs).toBeLessThan(15_000);
  });

  test('is forgotten when its connection is closed', async () => {
    const controller = new AbortController();
    const answer = fetch(`${service.url}/customer/graphql`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...credentialHeaders(harness.accounts.customer.credential),
      },
      body: JSON.stringify({ query, variables: { id: subscription.gid, waitSeconds: 20 } }),
      signal: controller.signal,
    });
    await untilWaiting(1);
    controller.abort();
    await expect(answer).rejects.toThrow('aborted');
    await untilWaiting(0);
  });

  test('holds neither points nor a slot, and the eleventh of an account does not wait', async () => {
    // Its bucket has 2,000 points, and each page costs almost 500 before it runs.
    const { id: accountId } = harness.accounts.customer;
    const credential = await issueCredential(harness.operator, {
      interfaceName: 'customer',
      accountId,
      clientId: null,
    });
    const variables = { id: subscription.gid, first: 100, waitSeconds: 20 };
    const wait = () => send(query, variables, credential);
    const answers: ReturnType<typeof wait>[] = [];
    for (const count of [3, 6, 9, 10]) {
      while (answers.length < count) answers.push(wait());
      await untilWaiting(count);
    }
    expect((await wait()).data?.webhookEvents?.edges).toEqual([]);
    expect((await send('{ customer { id } }', {}, credential)).cost).toMatchObject({
      throttleStatus: { maximumAvailable: 2000, currentlyAvailable: expect.toSatisfy((left: number) => left > 1900) },
    });
    expect(await waiting()).toBe(10);
    await deliver();
    expect((await Promise.all(answers)).map(({ data }) => data?.webhookEvents?.lastSequence)).toEqual(
      Array(10).fill(1),
    );
  });

  test('is answered when the server stops', async () => {
    const other = await harness.startApi('customer');
    await other.whenReady;
    const answer = postGraphql(`${other.url}/customer/graphql`, harness.accounts.customer.credential, {
      query,
      variables: { id: subscription.gid, waitSeconds: 20 },
    });
    await untilWaiting(1, other);
    const startMs = performance.now();
    await other.stop();
    expect(performance.now() - startMs).toBeLessThan(15_000);
    expect((await answer).body.data).toMatchObject({ webhookEvents: { edges: [] } });
  });
});
