import { beforeEach, describe, expect, test } from 'vitest';
import {
  cancelWebhookReplay,
  deleteWebhookSubscription,
  findWebhookReplay,
  listWebhookReplays,
  orRefuse,
  readWebhookReplay,
  replayWebhookEvents,
  type ReplayWebhookEventsInput,
} from '../src/index.ts';
import { expectRefused } from './support/operator.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

let subscriptionId: string;
beforeEach(async () => {
  ({ id: subscriptionId } = await world.subscribe());
  await seed();
  world.customerApi.notified = 0;
});

/** 10 deliveries of two types; those with even sequences have failed. */
async function seed(): Promise<void> {
  await world.sql(
    `with delivery as (
       insert into webhook_delivery
         (subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
       select id, account_id, interface, 1, case when n > 6 then 'api_key.created' else 'order.placed' end, '2026-11-01',
         now(), n
       from webhook_subscription, generate_series(1, 10) n where id = $1
       returning *
     )
     insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
     select subscription_id, id, interface from delivery where sequence % 2 = 0`,
    [subscriptionId.split('/').at(-1)],
  );
}

const start = new Date('2026-01-02T00:00:00.000Z');
const replay = (input: Partial<ReplayWebhookEventsInput> = {}, by = world.customer) =>
  replayWebhookEvents(world.customerApi, by, { subscriptionId, ...input });
const estimate = async (input: Partial<ReplayWebhookEventsInput>) => {
  const { estimate: estimated, userErrors } = await replay({ ...input, dryRun: true });
  expect(userErrors).toEqual([]);
  return estimated;
};
const errors = async (input: Partial<ReplayWebhookEventsInput>) => {
  const { webhookReplay, userErrors } = await replay(input);
  expect(webhookReplay).toBeNull();
  return userErrors.map(({ code, field }) => [code, ...(field ?? []).slice(1)].join(' '));
};
const stored = () => world.sql('select id::text, cancelled_at as "cancelledAt" from webhook_replay order by id');

describe('a dry run', () => {
  test('counts what failed by type, and writes nothing', async () => {
    expect(await estimate({ maxPerSecond: 2 })).toEqual({
      count: 5,
      isLowerBound: false,
      byType: [
        { type: 'order.placed', count: 3 },
        { type: 'api_key.created', count: 2 },
      ],
      seconds: 3,
    });
    expect(await stored()).toEqual([]);
    expect(world.customerApi.notified).toBe(0);
    expect(await world.sql(`select from audit_entry where action like '%replay'`)).toEqual([]);
  });

  test.each<[string, Partial<ReplayWebhookEventsInput>, number]>([
    ['everything since a time', { onlyFailed: false, since: start }, 10],
    ['nothing that was created later', { since: new Date(Date.now() - 1), until: new Date(Date.now() - 0) }, 0],
    ['a type', { eventTypes: ['api_key.created'] }, 2],
    ['sequences, both included', { onlyFailed: false, fromSequence: 3, toSequence: 6 }, 4],
    ['failed ones of sequences', { fromSequence: 3, toSequence: 6 }, 2],
  ])('counts %s', async (_, input, count) => {
    // The deliveries of the test are older than its ranges.
    await world.sql('select pg_sleep(0.01)');
    expect(await estimate(input)).toMatchObject({ count });
  });
});

const searchedFor = async (input: Partial<ReplayWebhookEventsInput>): Promise<[count: number, searched: number]> => {
  let searched = 0;
  const { estimate: estimated } = await replayWebhookEvents(
    world.customerApi,
    world.customer,
    { subscriptionId, dryRun: true, ...input },
    (deliveries) => (searched += deliveries),
  );
  return [estimated?.count ?? -1, searched];
};

test('a dry run reports how many deliveries it reads, including those that do not match', async () => {
  expect(await searchedFor({})).toEqual([5, 5]);
  expect(await searchedFor({ eventTypes: ['api_key.revoked'] })).toEqual([0, 5]);
  // All are of the same minute.
  expect(await searchedFor({ onlyFailed: false, fromSequence: 10 })).toEqual([1, 10]);
});

describe('replayWebhookEvents', () => {
  test('notes the range for the worker, shows the replay, and records who asked', async () => {
    const { webhookReplay } = await replay({ eventTypes: ['order.placed'], maxPerSecond: 100 });
    expect(webhookReplay).toEqual({
      id: expect.stringMatching(/^gid:\/\/service\/WebhookReplay\/\d+$/),
      subscriptionId,
      status: 'RUNNING',
      createdAt: expect.any(Date),
      endedAt: null,
      queuedCount: 0,
      skippedCount: 0,
      skippedPendingCount: 0,
      position: 0,
      waitsFor: 'NO_WORKER',
    });
    expect(await findWebhookReplay(world.customerApi, world.customer, webhookReplay?.id ?? '')).toEqual(webhookReplay);
    expect(world.customerApi.notified).toBe(1);
    const [entry] = await world.sql(
      `select actor, subject, details from audit_entry where action = 'webhook_subscription.replay'`,
    );
    expect(entry).toEqual({
      actor: 'Customer-client',
      subject: subscriptionId,
      details: {
        replay: webhookReplay?.id,
        onlyFailed: true,
        eventTypes: ['order.placed'],
        since: null,
        until: null,
        fromSequence: null,
        untilSequence: null,
        maxPerSecond: 100,
      },
    });
  });

  test('runs one at a time for a subscription, even if they start together', async () => {
    const results = await Promise.all([replay(), replay(), replay()]);
    const codes = results.flatMap(({ userErrors }) => userErrors.map(({ code }) => code));
    expect(codes).toEqual(['REPLAY_IN_PROGRESS', 'REPLAY_IN_PROGRESS']);
    const [running] = results.flatMap(({ webhookReplay }) => webhookReplay ?? []);
    for (const { message } of results.flatMap(({ userErrors }) => userErrors))
      expect(message).toContain(`in progress: ${running?.id}. `);
    const other = await world.subscribe();
    expect((await replay({ subscriptionId: other.id })).userErrors).toEqual([]);
  });

  test('keeps a type that is repeated once', async () => {
    await replay({ eventTypes: Array.from({ length: 1_000 }, () => 'order.placed') });
    expect(await world.sql('select event_types from webhook_replay')).toEqual([{ event_types: ['order.placed'] }]);
  });

  test('returns the first result to a request with the same key', async () => {
    const first = await replay({ idempotencyKey: 'a' });
    const again = await replay({ idempotencyKey: 'a' });
    expect(again).toEqual({ ...first, isRepeated: true });
    expect(await replay({ idempotencyKey: 'a', since: null, until: null, eventTypes: null })).toEqual(again);
    expect(await errors({ idempotencyKey: 'a', maxPerSecond: 7 })).toEqual(['IDEMPOTENCY_KEY_REUSED idempotencyKey']);
    expect(await errors({ idempotencyKey: '', maxPerSecond: 0 })).toEqual([
      'RANGE_INVALID maxPerSecond',
      'IDEMPOTENCY_KEY_INVALID idempotencyKey',
    ]);
    expect(await stored()).toHaveLength(1);
  });

  test('takes null for the default of a field, including with a key', async () => {
    const first = await replay({ idempotencyKey: 'a', onlyFailed: true, maxPerSecond: 50, dryRun: false });
    const again = await replay({ idempotencyKey: 'a', onlyFailed: null, maxPerSecond: null, dryRun: null });
    expect(again).toEqual({ ...first, isRepeated: true });
    expect(await stored()).toHaveLength(1);
  });

  test.each<[string, Partial<ReplayWebhookEventsInput>, string[]]>([
    ['times and sequences', { since: start, toSequence: 3 }, ['RANGE_INVALID fromSequence']],
    ['an empty range', { since: start, until: start }, ['RANGE_INVALID until']],
    ['the future', { since: new Date(Date.now() + 86_400_000) }, ['RANGE_INVALID since']],
    ['what is no longer kept', { until: start }, ['RANGE_INVALID until']],
    ['a sequence below 1', { fromSequence: 0 }, ['RANGE_INVALID fromSequence']],
    ['sequences in the wrong order', { fromSequence: 3, toSequence: 2 }, ['RANGE_INVALID toSequence']],
    ['everything without a start', { onlyFailed: false }, ['RANGE_INVALID since']],
    ['no deliveries per second', { maxPerSecond: 0 }, ['RANGE_INVALID maxPerSecond']],
    ['too many per second', { maxPerSecond: 501 }, ['RANGE_INVALID maxPerSecond']],
    ['no types', { eventTypes: [] }, ['RANGE_INVALID eventTypes']],
    ['an unknown type', { eventTypes: ['order.placed', 'nope'] }, ['EVENT_TYPE_UNKNOWN eventTypes 1']],
  ])('rejects %s', async (_, input, expected) => {
    expect(await errors(input)).toEqual(expected);
    expect(await errors({ ...input, dryRun: true })).toEqual(expected);
    expect(await stored()).toEqual([]);
  });

  test('rejects a type of the other interface', async () => {
    const { id: theirs } = await world.subscribe({ eventTypes: [{ type: 'webhook.test' }] }, world.supplier);
    const input = { subscriptionId: theirs, eventTypes: ['order.placed'] };
    for (const dryRun of [false, true]) {
      const { userErrors } = await replayWebhookEvents(world.supplierApi, world.supplier, { ...input, dryRun });
      expect(userErrors).toMatchObject([{ code: 'EVENT_TYPE_UNKNOWN', field: ['input', 'eventTypes', '0'] }]);
    }
    expect(await stored()).toEqual([]);
  });
});

const cancel = (id: string) => cancelWebhookReplay(world.customerApi, world.customer, { id });

describe('cancelWebhookReplay', () => {
  test('ends a replay at once, and changes nothing the second time', async () => {
    const { webhookReplay } = await replay();
    const id = webhookReplay?.id ?? '';
    const cancelled = await cancel(id);
    expect(cancelled).toMatchObject({
      webhookReplay: { status: 'CANCELLED', endedAt: expect.any(Date), waitsFor: null },
    });
    expect(await cancel(id)).toEqual(cancelled);
    expect(await world.sql(`select from audit_entry where action = 'webhook_subscription.cancel-replay'`)).toHaveLength(
      1,
    );
    expect((await replay()).userErrors).toEqual([]);
    expect((await listWebhookReplays(world.customerApi, world.customer, { subscriptionId })).edges).toHaveLength(2);
  });

  test('does not find a retry', async () => {
    await world.sql(
      `insert into webhook_replay (id, account_id, interface, subscription_id, delivery_id, only_failed, per_second, from_id,
         until_id, last_id)
       select 5, account_id, interface, id, 9, false, 1, 9, 10, 8 from webhook_subscription`,
    );
    expect((await cancel('gid://service/WebhookReplay/5')).userErrors).toMatchObject([{ code: 'NOT_FOUND' }]);
    expect((await listWebhookReplays(world.customerApi, world.customer, {})).edges).toEqual([]);
  });
});

test('a page of the replays of a subscription reads at most 1,000 of the account', async () => {
  const { webhookReplay } = await replay();
  const { id: otherId } = await world.subscribe();
  await world.sql(
    `insert into webhook_replay (account_id, interface, subscription_id, only_failed, per_second, from_id, until_id, last_id,
       cancelled_at)
     select account_id, interface, id, false, 1, 9, 10, 8, now() from webhook_subscription, generate_series(1, 1500) number
     where id = $1`,
    [otherId.split('/').at(-1)],
  );
  const list = (after: string | null) =>
    listWebhookReplays(world.customerApi, world.customer, { subscriptionId, first: 1, after });
  const first = await list(null);
  expect(first).toMatchObject({ edges: [], endCursor: expect.any(String), hasNextPage: true });
  const second = await list(first.endCursor);
  expect(second).toMatchObject({ edges: [{ node: { id: webhookReplay?.id } }], hasNextPage: false });
  const all = await listWebhookReplays(world.customerApi, world.customer, { first: 100 });
  expect(all.edges).toHaveLength(100);
  const others = { subscriptionId: otherId, first: 100 };
  expect(await listWebhookReplays(world.customerApi, world.customer, others)).toMatchObject({
    edges: { length: 100 },
    hasNextPage: true,
  });
});

test('a replay ends with its subscription, and stays visible', async () => {
  const { webhookReplay } = await replay();
  await deleteWebhookSubscription(world.customerApi, world.customer, { id: subscriptionId });
  const id = webhookReplay?.id ?? '';
  expect(await findWebhookReplay(world.customerApi, world.customer, id)).toMatchObject({
    status: 'SUBSCRIPTION_DELETED',
    endedAt: expect.any(Date),
  });
  expect(await cancelWebhookReplay(world.customerApi, world.customer, { id })).toMatchObject({
    webhookReplay: { status: 'SUBSCRIPTION_DELETED' },
  });
  expect(await errors({})).toEqual(['NOT_FOUND subscriptionId']);
});

test.each<[string, string, string]>([
  ['a pause', `update webhook_subscription set paused_reason = 'OWNER', paused_at = now()`, 'PAUSED'],
  [
    'the breaker',
    `insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes, breaker_open_until)
     select id, 1, 10, 0, now() from webhook_subscription`,
    'BREAKER_OPEN',
  ],
  [
    'a Retry-After',
    `insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes, hold_until)
     select id, 1, 1, 0, now() + interval '1 minute' from webhook_subscription`,
    'RETRY_AFTER',
  ],
  [
    'live deliveries',
    `with worker as (
       insert into webhook_worker (name, leased_until) values ('test', now() + interval '1 hour') returning id
     ), shard as (update webhook_shard set worker_id = worker.id from worker)
     insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type,
       event_version, occurred_at, sequence, due_at, body_bytes)
     select id, 1, account_id, interface, 1, 'order.placed', '2026-11-01', now(), 1, now() - interval '1 minute', 1
     from webhook_subscription`,
    'LIVE_TRAFFIC',
  ],
])('a replay that waits for %s says so', async (_, change, reason) => {
  const { webhookReplay } = await replay();
  await world.sql(change);
  try {
    expect(await findWebhookReplay(world.customerApi, world.customer, webhookReplay?.id ?? '')).toMatchObject({
      status: 'RUNNING',
      waitsFor: reason,
    });
  } finally {
    await world.sql('update webhook_shard set worker_id = null');
    await world.sql('delete from webhook_worker');
  }
});

test('operators replay and cancel for any account', async () => {
  const by = world.operator.operator;
  const replayFor = async (input: object) =>
    orRefuse(await replayWebhookEvents(world.operator, by, { subscriptionId, ...input }));
  const { webhookReplay } = await replayFor({});
  await expectRefused(replayFor({}), 'CONFLICT');
  await expectRefused(replayFor({ maxPerSecond: 0 }), 'INVALID');
  await expectRefused(replayFor({ subscriptionId: 'nope' }), 'NOT_FOUND');
  const replayId = webhookReplay.id;
  expect(await readWebhookReplay(world.operator, { replayId })).toMatchObject({ status: 'RUNNING' });
  expect(await cancelWebhookReplay(world.operator, by, { id: replayId })).toMatchObject({
    webhookReplay: { status: 'CANCELLED' },
  });
  await expectRefused(cancelWebhookReplay(world.operator, by, { id: 'nope' }), 'NOT_FOUND');
  await expectRefused(readWebhookReplay(world.operator, { replayId: 'nope' }), 'NOT_FOUND');
});
