import { beforeEach, expect, test } from 'vitest';
import { orRefuse, sendTestWebhookEvent, type SendTestWebhookEventInput } from '../src/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

let id: string;

beforeEach(async () => {
  const eventTypes = [{ type: 'order.placed' }, { type: 'webhook.test' }];
  ({ id } = await world.subscribe({ eventTypes }));
  world.customerApi.notified = 0;
  await world.sql('delete from webhook_event_queue');
});

const send = (input: Partial<SendTestWebhookEventInput> = {}) =>
  sendTestWebhookEvent(world.customerApi, world.customer, { subscriptionId: id, ...input });

const queued = () =>
  world.sql(
    `select q.subscription_id, e.id, e.event_type, e.snapshot, e.is_test, e.request_id
     from webhook_event_queue q join webhook_event e on e.id = q.event_id
     order by q.position`,
  );

/** As if the customer had sent test events in this minute, and in the next one, which can begin during the test. */
const count = (testEvents: number) =>
  world.sql(
    `insert into webhook_handshake_count (account_id, interface, minute, handshakes, test_events)
     select $1, 'customer', date_trunc('minute', now()) + make_interval(mins => n), 0, $2 from generate_series(0, 1) n
     on conflict (account_id, minute) do update set test_events = excluded.test_events`,
    [world.customer.accountId, testEvents],
  );

const idOf = (gid: string | null) => gid?.split('/').at(-1);

test('queues the sample for this subscription only, tells the worker, and is in the audit log', async () => {
  await world.subscribe({ eventTypes: [{ type: 'webhook.test' }] });
  await world.sql('delete from webhook_event_queue');
  world.customerApi.notified = 0;
  const { webhookEventId, userErrors } = await send();
  expect(userErrors).toEqual([]);
  expect(await queued()).toEqual([
    {
      subscription_id: idOf(id),
      id: idOf(webhookEventId),
      event_type: 'webhook.test',
      snapshot: { message: 'This is a test, also of é and 🏡.' },
      is_test: true,
      request_id: world.customer.requestId ?? null,
    },
  ]);
  expect(world.customerApi.notified).toBe(1);
  expect(
    await world.sql(
      `select actor, subject, details from audit_entry where action = 'webhook_subscription.test' and subject = $1`,
      [id],
    ),
  ).toEqual([{ actor: world.customer.clientId, subject: id, details: { eventType: 'webhook.test' } }]);
});

test('takes the type of the client; null selects webhook.test', async () => {
  await send({ eventType: 'order.placed' });
  await send({ eventType: null });
  expect((await queued()).map(({ event_type: type }) => type)).toEqual(['order.placed', 'webhook.test']);
});

test('sends nothing that the subscription would not receive, and says what it receives', async () => {
  expect((await send({ eventType: 'api_key.revoked' })).userErrors).toEqual([
    {
      code: 'NOT_SUBSCRIBED',
      message:
        'The subscription does not receive api_key.revoked. It receives order.placed, webhook.test. Name one of these types, or add api_key.revoked with updateWebhookSubscription.',
      field: ['input', 'eventType'],
    },
  ]);
  expect((await send({ eventType: 'order.place' })).userErrors).toEqual([
    {
      code: 'EVENT_TYPE_UNKNOWN',
      message:
        'The customer interface has no event type "order.place". Did you mean "order.placed"? Its event types are api_key.created, api_key.expiring, api_key.revoked, api_key.rotated, order.placed, webhook.test, webhook_delivery.failed, webhook_subscription.disrupted, webhook_subscription.paused, webhook_subscription.recovered.',
      field: ['input', 'eventType'],
    },
  ]);
  expect(await queued()).toEqual([]);
});

test("does not send the other interface's event type", async () => {
  const { id: subscriptionId } = await world.subscribe({ eventTypes: [{ type: 'webhook.test' }] }, world.supplier);
  await world.sql('delete from webhook_event_queue');
  const input = { subscriptionId, eventType: 'order.placed' };
  expect((await sendTestWebhookEvent(world.supplierApi, world.supplier, input)).userErrors).toMatchObject([
    { code: 'EVENT_TYPE_UNKNOWN' },
  ]);
  expect(await queued()).toEqual([]);
});

test('sends the event once for each idempotency key', async () => {
  const first = await send({ idempotencyKey: 'test-1' });
  expect(await send({ idempotencyKey: 'test-1', eventType: 'webhook.test' })).toEqual({ ...first, isRepeated: true });
  expect(await queued()).toHaveLength(1);
  expect((await send({ idempotencyKey: 'test-1', eventType: 'order.placed' })).userErrors).toMatchObject([
    { code: 'IDEMPOTENCY_KEY_REUSED' },
  ]);
  expect((await send({ idempotencyKey: '', eventType: 'none' })).userErrors).toMatchObject([
    { code: 'EVENT_TYPE_UNKNOWN' },
    { code: 'IDEMPOTENCY_KEY_INVALID' },
  ]);
  // A request that sends nothing does not use its key.
  await send({ idempotencyKey: 'test-2', eventType: 'none' });
  expect((await send({ idempotencyKey: 'test-2' })).userErrors).toEqual([]);
});

test('sends 60 test events in a minute, even at the same time', async () => {
  await count(57);
  const results = await Promise.all(Array.from({ length: 5 }, () => send()));
  const refused = results.filter(({ webhookEventId }) => webhookEventId === null);
  expect(refused.map(({ userErrors: [error] }) => [error?.code, error?.field])).toEqual([
    ['TEST_RATE_LIMITED', null],
    ['TEST_RATE_LIMITED', null],
  ]);
  expect(refused.flatMap(({ userErrors }) => userErrors.map(({ message }) => message)).toSorted()).toEqual([
    'This is test event 61 of the account in this minute; at most 60 are allowed. Try again in the next minute.',
    'This is test event 62 of the account in this minute; at most 60 are allowed. Try again in the next minute.',
  ]);
  expect(await queued()).toHaveLength(3);
  // The first one of a minute removes the counts of earlier ones.
  await world.sql(`update webhook_handshake_count set minute = minute - interval '1 hour'`);
  expect((await send()).userErrors).toEqual([]);
  expect(await world.sql('select test_events from webhook_handshake_count')).toEqual([{ test_events: 1 }]);
});

test('sends nothing at a version that is retired', async () => {
  await world.sql(`update webhook_subscription_event_type set event_version = '2020-01-01'`);
  expect((await send()).userErrors).toEqual([
    {
      code: 'NOT_SUBSCRIBED',
      message:
        'The subscription pins webhook.test at 2020-01-01, which is retired. Pin another version with updateWebhookSubscription.',
      field: ['input', 'eventType'],
    },
  ]);
});

const sendFor = async (input: object) =>
  orRefuse(await sendTestWebhookEvent(world.operator, world.operator.operator, { subscriptionId: id, ...input }));

test('an operator sends a test event to any subscription, without a limit', async () => {
  await count(60);
  const { webhookEventId } = await sendFor({});
  expect(await queued()).toMatchObject([{ id: idOf(webhookEventId), event_type: 'webhook.test', request_id: null }]);
  await expect(sendFor({ eventType: 'api_key.created' })).rejects.toMatchObject({ code: 'INVALID' });
  await expect(sendFor({ subscriptionId: 'gid://service/WebhookSubscription/1' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});
