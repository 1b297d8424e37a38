import { beforeEach, expect, test } from 'vitest';
import {
  deleteWebhookSubscription,
  findWebhookSubscription,
  updateWebhookSubscription,
  type UpdateWebhookSubscriptionInput,
} from '../src/index.ts';
import { interrupted } from './support/interrupted.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

let id: string;

beforeEach(async () => {
  ({ id } = await world.subscribe({ eventTypes: [{ type: 'order.placed' }, { type: 'api_key.created' }] }));
  world.customerApi.sender.verified = [];
  world.customerApi.notified = 0;
});

const otherUrl = 'https://receiver.example/other';

const update = (input: Omit<UpdateWebhookSubscriptionInput, 'id'>) =>
  updateWebhookSubscription(world.customerApi, world.customer, { id, ...input });
const read = () => findWebhookSubscription(world.customerApi, world.customer, id);
const pause = (reason: string) =>
  world.sql(
    `with queue as (delete from webhook_event_queue)
     update webhook_subscription set paused_reason = $1, paused_at = now()`,
    [reason],
  );
/** The subscriptions whose changes are queued for the worker. */
const changes = async () =>
  (await world.sql('select subscription_id from webhook_event_queue order by position')).map(
    (row) => `gid://service/WebhookSubscription/${String(row['subscription_id'])}`,
  );
const urlNumber = async () => (await world.sql('select url_number from webhook_subscription'))[0]?.['url_number'];

test('does not verify an equivalent URL again', async () => {
  const before = await read();
  expect(await update({ callbackUrl: 'https://RECEIVER.example:443/hook' })).toEqual({
    webhookSubscription: before,
    userErrors: [],
  });
  expect(world.customerApi.sender.verified).toEqual([]);
});

test('verifies a new URL with the secret of the subscription, and notifies the worker', async () => {
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  ({ id } = await world.subscribe({ webhookSecret: secret }));
  world.customerApi.sender.verified = [];
  world.customerApi.notified = 0;
  const { webhookSubscription, userErrors } = await update({ callbackUrl: otherUrl });
  expect(userErrors).toEqual([]);
  expect(webhookSubscription?.callbackUrl).toBe(otherUrl);
  expect(world.customerApi.sender.verified).toEqual([{ url: otherUrl, secret }]);
  expect(world.customerApi.notified).toBe(1);
});

test('changes the timeout without a handshake, and notifies the worker', async () => {
  expect((await read())?.timeoutSeconds).toBe(5);
  for (const timeoutSeconds of [15, 5, 10]) {
    const { webhookSubscription, userErrors } = await update({ timeoutSeconds });
    expect({ webhookSubscription, userErrors }).toMatchObject({
      webhookSubscription: { timeoutSeconds },
      userErrors: [],
    });
  }
  await update({ timeoutSeconds: null });
  expect((await read())?.timeoutSeconds).toBe(10);
  expect(world.customerApi.sender.verified).toEqual([]);
  expect(world.customerApi.notified).toBe(3);
});

test.each([4, 16, 5.5, -1])('rejects a timeout of %d seconds', async (timeoutSeconds) => {
  const message = `The timeout must be 5 to 15 seconds; it is ${timeoutSeconds}.`;
  expect(await update({ timeoutSeconds })).toEqual({
    webhookSubscription: null,
    userErrors: [{ code: 'TIMEOUT_INVALID', message, field: ['input', 'timeoutSeconds'] }],
  });
  expect((await read())?.timeoutSeconds).toBe(5);
});

test('changes nothing, not even event types, when the handshake fails', async () => {
  const before = await read();
  world.customerApi.sender.result = () => ({ verified: false, code: 'VERIFICATION_MISMATCH', message: 'Another.' });
  const result = await update({ callbackUrl: otherUrl, eventTypes: [{ type: 'api_key.revoked' }] });
  expect(result).toEqual({
    webhookSubscription: null,
    userErrors: [{ code: 'VERIFICATION_MISMATCH', message: 'Another.', field: ['input', 'callbackUrl'] }],
  });
  expect(await read()).toEqual(before);
});

test('replaces the event types: remaining ones keep their pins, new ones pin the current version', async () => {
  await world.sql(
    `update webhook_subscription_event_type set event_version = '2020-01-01' where event_type = 'order.placed'`,
  );
  const { webhookSubscription, userErrors } = await update({
    eventTypes: [{ type: 'order.placed' }, { type: 'webhook.test' }],
  });
  expect(userErrors).toEqual([]);
  expect(webhookSubscription?.eventTypes).toEqual([
    { type: 'order.placed', version: '2020-01-01' },
    { type: 'webhook.test', version: '2026-11-01' },
  ]);
  // A given version replaces the pin.
  const moved = await update({ eventTypes: [{ type: 'order.placed', version: '2026-11-01' }] });
  expect(moved.webhookSubscription?.eventTypes).toEqual([{ type: 'order.placed', version: '2026-11-01' }]);
  expect(world.customerApi.sender.verified).toEqual([]);
});

test.each([{}, { callbackUrl: null, eventTypes: null }])('keeps omitted fields unchanged: %j', async (input) => {
  const before = await read();
  expect(await update(input)).toEqual({ webhookSubscription: before, userErrors: [] });
});

test('returns every user error at once, and changes nothing', async () => {
  const before = await read();
  const { userErrors } = await update({ callbackUrl: 'nope', eventTypes: [{ type: 'order.lost' }] });
  expect(userErrors.map(({ code, field }) => [code, field?.join('.')])).toEqual([
    ['CALLBACK_URL_INVALID', 'input.callbackUrl'],
    ['EVENT_TYPE_UNKNOWN', 'input.eventTypes.0.type'],
  ]);
  expect((await update({ eventTypes: [] })).userErrors).toMatchObject([{ code: 'EVENT_TYPES_INVALID' }]);
  expect(await read()).toEqual(before);
});

test("refuses the other interface's event type", async () => {
  const { id: theirs } = await world.subscribe({ eventTypes: [{ type: 'webhook.test' }] }, world.supplier);
  const input = { id: theirs, eventTypes: [{ type: 'order.placed' }] };
  expect((await updateWebhookSubscription(world.supplierApi, world.supplier, input)).userErrors).toMatchObject([
    { code: 'EVENT_TYPE_UNKNOWN' },
  ]);
});

test.each([
  // A new URL and the resumption each increment it.
  ['GONE', otherUrl, 3],
  ['FAILING', 'https://receiver.example/hook', 2],
])(
  'resumes a subscription paused as %s at %s once the URL is verified',
  async (reason, callbackUrl, expectedUrlNumber) => {
    await pause(reason);
    world.customerApi.sender.result = () => ({ verified: false, code: 'VERIFICATION_STATUS', message: '410' });
    expect((await update({ callbackUrl })).userErrors).toMatchObject([{ code: 'VERIFICATION_STATUS' }]);
    expect(await read()).toMatchObject({ status: 'PAUSED', pausedReason: reason });
    expect(await changes()).toEqual([]);
    world.customerApi.sender.result = () => ({ verified: true });
    const { webhookSubscription } = await update({ callbackUrl });
    expect(webhookSubscription).toMatchObject({ status: 'ACTIVE', pausedReason: null, pausedAt: null, callbackUrl });
    expect(await urlNumber()).toBe(expectedUrlNumber);
    expect(await changes()).toEqual([id]);
  },
);

test('does not resume a gone subscription for new event types, or one paused by its owner for a new URL', async () => {
  await pause('GONE');
  await update({ eventTypes: [{ type: 'order.placed' }] });
  expect(await read()).toMatchObject({ status: 'PAUSED', pausedReason: 'GONE' });
  await pause('OWNER');
  const { webhookSubscription } = await update({ callbackUrl: otherUrl });
  expect(webhookSubscription).toMatchObject({ status: 'PAUSED', pausedReason: 'OWNER', callbackUrl: otherUrl });
});

test('resumes a subscription paused for a retired version once it pins no retired or unknown version', async () => {
  await world.sql(
    `update webhook_subscription_event_type set event_version = '2020-01-01' where event_type = 'order.placed'`,
  );
  await pause('VERSION_RETIRED');
  await update({ eventTypes: [{ type: 'order.placed' }, { type: 'webhook.test' }] });
  expect(await read()).toMatchObject({ status: 'PAUSED', pausedReason: 'VERSION_RETIRED' });
  await update({ eventTypes: [{ type: 'order.placed', version: '2026-11-01' }] });
  expect(await read()).toMatchObject({ status: 'ACTIVE', pausedReason: null });
  expect(await changes()).toEqual([id, id]);
});

test('does not resume a subscription whose URL becomes gone during the update', async () => {
  // The same URL needs no handshake. The receiver responds 410 after the subscription was read, before it is updated.
  const store = interrupted(world.customerApi.store, () => pause('GONE'));
  const callbackUrl = 'https://receiver.example/hook';
  await updateWebhookSubscription({ ...world.customerApi, store }, world.customer, { id, callbackUrl });
  expect(world.customerApi.sender.verified).toEqual([]);
  expect(await read()).toMatchObject({ status: 'PAUSED', pausedReason: 'GONE' });
});

test('keeps a pin that another update moves during the handshake', async () => {
  world.customerApi.sender.result = async () => {
    await update({ eventTypes: [{ type: 'order.placed', version: '2027-02-01' }, { type: 'webhook.test' }] });
    return { verified: true };
  };
  await update({ eventTypes: [{ type: 'order.placed', version: '2026-11-01' }] });
  const eventTypes = [{ type: 'order.placed' }, { type: 'api_key.created' }];
  const { webhookSubscription } = await update({ callbackUrl: otherUrl, eventTypes });
  expect(webhookSubscription?.eventTypes).toEqual([
    { type: 'api_key.created', version: '2026-11-01' },
    { type: 'order.placed', version: '2027-02-01' },
  ]);
});

test('returns NOT_FOUND when the subscription is deleted during the handshake', async () => {
  world.customerApi.sender.result = async () => {
    await deleteWebhookSubscription(world.customerApi, world.customer, { id });
    return { verified: true };
  };
  expect(await update({ callbackUrl: otherUrl })).toMatchObject({
    webhookSubscription: null,
    userErrors: [{ code: 'NOT_FOUND', field: ['input', 'id'] }],
  });
});

test('deleting erases the name, the URL, the secret and the event types, and queues the change, once', async () => {
  await update({ name: 'Orders' });
  await world.sql('delete from webhook_event_queue');
  const remove = () => deleteWebhookSubscription(world.customerApi, world.customer, { id });
  const results = await Promise.all([remove(), remove(), remove()]);
  expect(results.map(({ deletedWebhookSubscriptionId }) => deletedWebhookSubscriptionId).filter(Boolean)).toEqual([id]);
  expect(
    await world.sql(
      'select name, callback_url, secret_ciphertext from webhook_subscription where deleted_at is not null',
    ),
  ).toEqual([{ name: null, callback_url: '', secret_ciphertext: Buffer.alloc(0) }]);
  expect(await world.sql('select from webhook_subscription_event_type')).toEqual([]);
  expect(await changes()).toEqual([id]);
  expect(world.customerApi.notified).toBe(1);
});

test('a deletion by an API of an earlier release erases the name', async () => {
  await update({ name: 'Orders' });
  await world.sql(`update webhook_subscription set deleted_at = now(), callback_url = '', secret_ciphertext = ''`);
  expect(await world.sql('select name from webhook_subscription')).toEqual([{ name: null }]);
});

test('does not wait for a lock on the subscription of another account', async () => {
  await world.superuser.transaction(async (transaction) => {
    await transaction.query({ name: 'lock', text: 'select from webhook_subscription for update' }, []);
    const result = await deleteWebhookSubscription(world.customerApi, world.otherCustomer, { id });
    expect(result.userErrors).toMatchObject([{ code: 'NOT_FOUND' }]);
  });
});
