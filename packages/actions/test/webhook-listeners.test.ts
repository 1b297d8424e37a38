import { beforeEach, describe, expect, test } from 'vitest';
import {
  createWebhookListener,
  type CreateWebhookListenerInput,
  deleteListenerOfAccount,
  deleteWebhookListener,
  deleteWebhookSubscription,
  findWebhookDelivery,
  findWebhookSubscription,
  findWebhookSubscriptions,
  listAllWebhookDeliveries,
  listAllWebhookSubscriptions,
  listAuditEntries,
  listWebhookDeliveries,
  listWebhookListeners,
  listWebhookSubscriptions,
  orRefuse,
  pauseWebhookSubscription,
  permitListeners,
  readWebhookSubscription,
  replayWebhookEvents,
  resumePausedSubscription,
  resumeWebhookSubscription,
  retryWebhookDelivery,
  rewrapSecrets,
  rotateWebhookSecret,
  sendTestWebhookEvent,
  updateWebhookSubscription,
  type WebhookListener,
} from '../src/index.ts';
import { useWorld } from './support/use-world.ts';
import type { Account } from './support/world.ts';

const world = await useWorld();

beforeEach(() => world.sql('truncate audit_entry'));

const create = (input: Partial<CreateWebhookListenerInput> = {}, by: Account = world.customer) =>
  createWebhookListener(by.interfaceName === 'supplier' ? world.supplierApi : world.customerApi, by, {
    eventTypes: [{ type: by.interfaceName === 'supplier' ? 'webhook.test' : 'order.placed' }],
    ...input,
  });

async function listen(input: Partial<CreateWebhookListenerInput> = {}, by?: Account): Promise<WebhookListener> {
  const { webhookListener, userErrors } = await create(input, by);
  if (webhookListener === null) throw new Error(JSON.stringify(userErrors));
  return webhookListener;
}

const list = (by: Account = world.customer) =>
  listWebhookListeners(by.interfaceName === 'supplier' ? world.supplierApi : world.customerApi, by);
const numberOf = (gid: string): string => gid.split('/').at(-1) ?? '';
const actions = async () =>
  (await listAuditEntries(world.operator, { limit: 100 }))
    .map(({ actor, action, subject, accountId }) => ({ actor, action, subject, accountId }))
    .toReversed();

test('creates a listener at the current versions, which expires in 24 hours, and notifies the worker', async () => {
  const eventTypes = [{ type: 'webhook.test' }, { type: 'order.placed', version: '2026-11-01' }];
  world.customerApi.notified = 0;
  const listener = await listen({ eventTypes });
  expect(listener).toEqual({
    id: expect.stringMatching(/^gid:\/\/service\/WebhookListener\/\d+$/),
    eventTypes: [
      { type: 'order.placed', version: '2026-11-01' },
      { type: 'webhook.test', version: '2026-11-01' },
    ],
    createdAt: expect.any(Date),
    expiresAt: new Date(listener.createdAt.getTime() + 86_400_000),
    lastSequence: 0,
  });
  expect(world.customerApi.notified).toBe(1);
  expect(world.customerApi.sender.verified).toEqual([]);
  expect(await list()).toEqual([listener]);
  expect(await actions()).toEqual([
    {
      actor: world.customer.clientId,
      action: 'webhook_listener.create',
      subject: listener.id,
      accountId: world.customer.gid,
    },
  ]);
});

test('shows how many events there are, and when it expires since the last read', async () => {
  const { id } = await listen();
  await world.sql(
    'update webhook_subscription_sequence set last_sequence = 9007199254740991 where subscription_id = $1',
    [numberOf(id)],
  );
  await world.sql(`update webhook_subscription set last_read_at = '2027-01-01T00:00Z' where id = $1`, [numberOf(id)]);
  expect(await list()).toMatchObject([
    { lastSequence: Number.MAX_SAFE_INTEGER, expiresAt: new Date('2027-01-02T00:00:00Z') },
  ]);
});

test('refuses event types as subscriptions do, and creates nothing', async () => {
  expect((await create({ eventTypes: [] })).userErrors).toMatchObject([{ code: 'EVENT_TYPES_INVALID' }]);
  expect(
    (
      await create(
        { eventTypes: [{ type: 'order.placed' }, { type: 'webhook.test', version: '2020-01-01' }] },
        world.supplier,
      )
    ).userErrors,
  ).toMatchObject([{ code: 'EVENT_TYPE_UNKNOWN' }, { code: 'EVENT_VERSION_UNKNOWN' }]);
  expect(await list()).toEqual([]);
  expect(await list(world.supplier)).toEqual([]);
  expect(await actions()).toEqual([]);
});

test('an account has at most 10 listeners, beside its subscriptions, even if it creates them at the same time', async () => {
  await world.subscribe();
  const results = await Promise.all(Array.from({ length: 14 }, () => create()));
  const refused = results.flatMap(({ userErrors }) => userErrors);
  expect(refused).toEqual(
    Array.from({ length: 4 }, () => ({
      code: 'LIMIT_REACHED',
      message: 'The account has reached its limit of 10 listeners. Delete one first. `webhookListeners` lists them.',
      field: null,
    })),
  );
  expect(await list()).toHaveLength(10);
  // They do not count as subscriptions, and another account has its own.
  for (let count = 1; count < 20; count += 1) await world.subscribe();
  expect((await create({}, world.otherCustomer)).userErrors).toEqual([]);
  const [first] = await list();
  await deleteWebhookListener(world.customerApi, world.customer, { id: first?.id ?? '' });
  expect((await create()).userErrors).toEqual([]);
});

test('creates one listener for each idempotency key, and keeps nothing of a deleted one', async () => {
  const first = await create({ idempotencyKey: 'listen-1' });
  expect(await create({ idempotencyKey: 'listen-1' })).toEqual({ ...first, isRepeated: true });
  const sameKey = { idempotencyKey: 'listen-1', eventTypes: [{ type: 'webhook.test' }] };
  expect((await create(sameKey)).userErrors).toMatchObject([{ code: 'IDEMPOTENCY_KEY_REUSED' }]);
  expect((await create({ idempotencyKey: '', eventTypes: [] })).userErrors).toMatchObject([
    { code: 'EVENT_TYPES_INVALID' },
    { code: 'IDEMPOTENCY_KEY_INVALID' },
  ]);
  expect(await list()).toHaveLength(1);
  await deleteWebhookListener(world.customerApi, world.customer, { id: first.webhookListener?.id ?? '' });
  expect((await create({ idempotencyKey: 'listen-1' })).userErrors).toMatchObject([{ code: 'IDEMPOTENCY_KEY_REUSED' }]);
  expect(await world.sql('select payload, record_deleted from idempotency_key')).toEqual([
    { payload: null, record_deleted: true },
  ]);
});

test('deletes a listener once, with an entry of the audit log, and tells the worker', async () => {
  const { id } = await listen();
  await world.sql('delete from webhook_event_queue');
  world.customerApi.notified = 0;
  const remove = () => deleteWebhookListener(world.customerApi, world.customer, { id });
  expect(await remove()).toEqual({ deletedWebhookListenerId: id, userErrors: [] });
  expect(await list()).toEqual([]);
  expect(world.customerApi.notified).toBe(1);
  expect(await world.sql('select subscription_id, event_id from webhook_event_queue')).toEqual([
    { subscription_id: numberOf(id), event_id: null },
  ]);
  expect((await actions()).at(-1)).toEqual({
    actor: world.customer.clientId,
    action: 'webhook_listener.delete',
    subject: id,
    accountId: world.customer.gid,
  });
  expect(await remove()).toMatchObject({ deletedWebhookListenerId: null, userErrors: [{ code: 'NOT_FOUND' }] });
});

test('an operator deletes a listener once, and notifies the worker', async () => {
  const { id } = await listen();
  await deleteListenerOfAccount(world.operator, { listenerId: id });
  expect(await list()).toEqual([]);
  await expect(deleteListenerOfAccount(world.operator, { listenerId: id })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(world.operator.notified).toBe(1);
});

/** A listener with a delivery, and both under the identifiers that subscriptions have. */
async function disguised() {
  const listener = await listen();
  const id = listener.id.replace('WebhookListener', 'WebhookSubscription');
  const [row] = await world.sql(
    `with sequence as (update webhook_subscription_sequence set last_sequence = 1 where subscription_id = $1)
     insert into webhook_delivery
       (subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
     select id, account_id, interface, 1, 'order.placed', '2026-11-01', now(), 1 from webhook_subscription where id = $1
     returning id`,
    [numberOf(id)],
  );
  return { listener, id, deliveryId: `gid://service/WebhookDelivery/${String(row?.['id'])}` };
}

describe('the mutations and queries of subscriptions', () => {
  const notFound = [{ code: 'NOT_FOUND' }];

  test('answer about a listener as about a subscription that does not exist', async () => {
    const { listener, id, deliveryId } = await disguised();
    const { customerApi: api, customer } = world;
    const before = await world.sql('select * from webhook_subscription');
    for (const gid of [id, listener.id]) {
      const input = { id: gid };
      expect(await findWebhookSubscription(api, customer, gid)).toBeNull();
      expect(await findWebhookSubscriptions(api, customer, [gid])).toEqual([null]);
      for (const result of [
        await updateWebhookSubscription(api, customer, { id: gid, callbackUrl: 'https://receiver.example/other' }),
        await pauseWebhookSubscription(api, customer, input),
        await resumeWebhookSubscription(api, customer, input),
        await rotateWebhookSecret(api, customer, input),
        await replayWebhookEvents(api, customer, { subscriptionId: gid }),
        await deleteWebhookSubscription(api, customer, input),
      ])
        expect(result.userErrors).toMatchObject(notFound);
      expect((await listWebhookDeliveries(api, customer, { subscriptionId: gid })).edges).toEqual([]);
    }
    expect((await listWebhookSubscriptions(api, customer, {})).edges).toEqual([]);
    expect((await listWebhookDeliveries(api, customer, {})).edges).toEqual([]);
    expect(await findWebhookDelivery(api, customer, deliveryId)).toBeNull();
    expect((await retryWebhookDelivery(api, customer, { id: deliveryId })).userErrors).toMatchObject(notFound);
    // Not under its own type either.
    expect((await sendTestWebhookEvent(api, customer, { subscriptionId: id })).userErrors).toMatchObject(notFound);
    expect(api.sender.verified).toEqual([]);
    expect(await world.sql('select * from webhook_subscription')).toEqual(before);
  });

  test('of operators do the same', async () => {
    const { id, deliveryId } = await disguised();
    const { operator } = world;
    const before = await world.sql('select * from webhook_subscription');
    const by = operator.operator;
    const refused = [
      () => readWebhookSubscription(operator, { subscriptionId: id }),
      () => pauseWebhookSubscription(operator, by, { id }),
      () => resumePausedSubscription(operator, { subscriptionId: id }),
      () =>
        rotateWebhookSecret({ ...operator, secretKeys: world.customerApi.secretKeys }, by, { id, overlapSeconds: 0 }),
      () => replayWebhookEvents(operator, by, { subscriptionId: id }),
      async () => orRefuse(await retryWebhookDelivery(operator, by, { id: deliveryId })),
      async () => orRefuse(await sendTestWebhookEvent(operator, by, { subscriptionId: id })),
    ];
    for (const run of refused) await expect(run()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const all = { accountId: null, status: null };
    expect((await listAllWebhookSubscriptions(operator, all)).edges).toEqual([]);
    const deliveries = { accountId: null, subscriptionId: null, status: null };
    expect((await listAllWebhookDeliveries(operator, deliveries)).edges).toEqual([]);
    expect(await world.sql('select * from webhook_subscription')).toEqual(before);
  });

  test('a subscription is not deleted as a listener', async () => {
    const { id } = await world.subscribe();
    for (const gid of [id, id.replace('WebhookSubscription', 'WebhookListener')]) {
      expect((await deleteWebhookListener(world.customerApi, world.customer, { id: gid })).userErrors).toMatchObject(
        notFound,
      );
      await expect(deleteListenerOfAccount(world.operator, { listenerId: gid })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
    }
    expect(await findWebhookSubscription(world.customerApi, world.customer, id)).not.toBeNull();
  });
});

const queued = () =>
  world.sql(
    `select q.subscription_id, e.event_type, e.is_test
     from webhook_event_queue q join webhook_event e on e.id = q.event_id order by q.position`,
  );

describe('test events', () => {
  test('are queued for a listener, by its owner and by an operator', async () => {
    const { id } = await listen({ eventTypes: [{ type: 'webhook.test' }] });
    const { webhookEventId } = await sendTestWebhookEvent(world.customerApi, world.customer, { subscriptionId: id });
    expect(webhookEventId).not.toBeNull();
    await sendTestWebhookEvent(world.operator, world.operator.operator, { subscriptionId: id });
    const entry = { subscription_id: numberOf(id), event_type: 'webhook.test', is_test: true };
    expect(await queued()).toEqual([entry, entry]);
    expect((await actions()).slice(1).map(({ action, subject }) => [action, subject])).toEqual([
      ['webhook_listener.test', id],
      ['webhook_listener.test', id],
    ]);
  });

  test('say what to do about a type that the listener does not receive', async () => {
    const { id } = await listen();
    const send = () => sendTestWebhookEvent(world.customerApi, world.customer, { subscriptionId: id });
    expect((await send()).userErrors).toEqual([
      {
        code: 'NOT_SUBSCRIBED',
        message:
          'The listener does not receive webhook.test. It receives order.placed. Name one of these types, or create a listener for webhook.test.',
        field: ['input', 'eventType'],
      },
    ]);
    await world.sql(
      `update webhook_subscription_event_type set event_type = 'webhook.test', event_version = '2020-01-01'`,
    );
    expect((await send()).userErrors).toMatchObject([
      {
        code: 'NOT_SUBSCRIBED',
        message:
          'The listener pins webhook.test at 2020-01-01, which is retired. Create a listener for another version.',
      },
    ]);
    expect(await queued()).toEqual([]);
  });
});

describe('an operator', () => {
  test('forbids an account to create listeners, and allows it again; those it has stay', async () => {
    const existing = await listen();
    const accountId = world.customer.gid;
    await world.sql('truncate audit_entry');
    await permitListeners(world.operator, { accountId, isForbidden: true });
    expect(await create()).toMatchObject({ webhookListener: null, userErrors: [{ code: 'FORBIDDEN' }] });
    expect((await create({ eventTypes: [], idempotencyKey: '' })).userErrors).toMatchObject([
      { code: 'EVENT_TYPES_INVALID' },
      { code: 'FORBIDDEN' },
      { code: 'IDEMPOTENCY_KEY_INVALID' },
    ]);
    expect((await create({}, world.otherCustomer)).userErrors).toEqual([]);
    expect(await list()).toEqual([existing]);
    // Nothing changes the second time.
    await permitListeners(world.operator, { accountId, isForbidden: true });
    await permitListeners(world.operator, { accountId, isForbidden: false });
    expect((await create()).userErrors).toEqual([]);
    const entries = (await listAuditEntries(world.operator, { limit: 100 })).toReversed();
    expect(entries.filter(({ actorType }) => actorType === 'OPERATOR')).toMatchObject(
      ['listener.forbid', 'listener.allow'].map((command) => ({
        actor: 'ada',
        action: 'customer.update',
        accountId,
        details: { command },
      })),
    );
  });

  test('rewraps secrets beside listeners, which have none', async () => {
    await listen();
    await world.subscribe();
    const report = await rewrapSecrets({ ...world.operator, secretKeys: world.customerApi.secretKeys });
    expect(report).toMatchObject({ unreadable: 0 });
  });
});
