import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  deleteWebhookSubscription,
  findWebhookSubscription,
  updateWebhookSubscription,
  type UpdateWebhookSubscriptionInput,
} from '../src/index.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;
let id: string;

beforeAll(async () => {
  world = await createWorld();
});

beforeEach(async () => {
  await world.reset();
  ({ id } = await world.subscribe({ eventTypes: [{ type: 'referral.created' }, { type: 'referral.declined' }] }));
  world.partnerApi.sender.verified = [];
  world.partnerApi.notified = 0;
});

afterAll(async () => {
  await world.close();
});

const otherUrl = 'https://receiver.example/other';

const update = (input: Omit<UpdateWebhookSubscriptionInput, 'id'>) =>
  updateWebhookSubscription(world.partnerApi, world.partner, { id, ...input });
const read = () => findWebhookSubscription(world.partnerApi, world.partner, id);
const pause = (reason: string) =>
  world.sql(
    `with paused as (update webhook_subscription set paused_reason = $1, paused_at = now())
     update webhook_lane set active = false`,
    [reason],
  );

test('does not verify an equivalent URL again', async () => {
  const before = await read();
  expect(await update({ callbackUrl: 'https://RECEIVER.example:443/hook' })).toEqual({
    webhookSubscription: before,
    userErrors: [],
  });
  expect(world.partnerApi.sender.verified).toEqual([]);
});

test('verifies a new URL with the secret of the subscription, and notifies the worker', async () => {
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  ({ id } = await world.subscribe({ webhookSecret: secret }));
  world.partnerApi.sender.verified = [];
  const { webhookSubscription, userErrors } = await update({ callbackUrl: otherUrl });
  expect(userErrors).toEqual([]);
  expect(webhookSubscription?.callbackUrl).toBe(otherUrl);
  expect(world.partnerApi.sender.verified).toEqual([{ url: otherUrl, secret }]);
  expect(world.partnerApi.notified).toBe(1);
});

test('changes nothing, not even event types, when the handshake fails', async () => {
  const before = await read();
  world.partnerApi.sender.result = () => ({ verified: false, code: 'VERIFICATION_MISMATCH', message: 'Another.' });
  const result = await update({ callbackUrl: otherUrl, eventTypes: [{ type: 'referral.converted' }] });
  expect(result).toEqual({
    webhookSubscription: null,
    userErrors: [{ code: 'VERIFICATION_MISMATCH', message: 'Another.', field: ['input', 'callbackUrl'] }],
  });
  expect(await read()).toEqual(before);
});

test('replaces the event types: remaining ones keep their pins, new ones pin the current version', async () => {
  await world.sql(
    `update webhook_subscription_event_type set event_version = '2020-01-01' where event_type = 'referral.created'`,
  );
  const { webhookSubscription, userErrors } = await update({
    eventTypes: [{ type: 'referral.created' }, { type: 'webhook.test' }],
  });
  expect(userErrors).toEqual([]);
  expect(webhookSubscription?.eventTypes).toEqual([
    { type: 'referral.created', version: '2020-01-01' },
    { type: 'webhook.test', version: '2026-11-01' },
  ]);
  // A given version replaces the pin.
  const moved = await update({ eventTypes: [{ type: 'referral.created', version: '2026-11-01' }] });
  expect(moved.webhookSubscription?.eventTypes).toEqual([{ type: 'referral.created', version: '2026-11-01' }]);
  expect(world.partnerApi.sender.verified).toEqual([]);
});

test.each([{}, { callbackUrl: null, eventTypes: null }])('keeps omitted fields unchanged: %j', async (input) => {
  const before = await read();
  expect(await update(input)).toEqual({ webhookSubscription: before, userErrors: [] });
});

test('returns every user error at once, and changes nothing', async () => {
  const before = await read();
  const { userErrors } = await update({ callbackUrl: 'nope', eventTypes: [{ type: 'lender.updated' }] });
  expect(userErrors.map(({ code, field }) => [code, field?.join('.')])).toEqual([
    ['CALLBACK_URL_INVALID', 'input.callbackUrl'],
    ['EVENT_TYPE_UNKNOWN', 'input.eventTypes.0.type'],
  ]);
  expect((await update({ eventTypes: [] })).userErrors).toMatchObject([{ code: 'EVENT_TYPES_INVALID' }]);
  expect(await read()).toEqual(before);
});

test.each([otherUrl, 'https://receiver.example/hook'])(
  'resumes a gone subscription at %s once the URL is verified',
  async (callbackUrl) => {
    await pause('GONE');
    world.partnerApi.sender.result = () => ({ verified: false, code: 'VERIFICATION_STATUS', message: '410' });
    expect((await update({ callbackUrl })).userErrors).toMatchObject([{ code: 'VERIFICATION_STATUS' }]);
    expect(await read()).toMatchObject({ status: 'PAUSED', pausedReason: 'GONE' });
    world.partnerApi.sender.result = () => ({ verified: true });
    const { webhookSubscription } = await update({ callbackUrl });
    expect(webhookSubscription).toMatchObject({ status: 'ACTIVE', pausedReason: null, pausedAt: null, callbackUrl });
    expect(await world.sql('select active from webhook_lane')).toEqual([{ active: true }]);
  },
);

test('does not resume a gone subscription for new event types, or one paused by its owner for a new URL', async () => {
  await pause('GONE');
  await update({ eventTypes: [{ type: 'referral.created' }] });
  expect(await read()).toMatchObject({ status: 'PAUSED', pausedReason: 'GONE' });
  await pause('OWNER');
  const { webhookSubscription } = await update({ callbackUrl: otherUrl });
  expect(webhookSubscription).toMatchObject({ status: 'PAUSED', pausedReason: 'OWNER', callbackUrl: otherUrl });
  expect(await world.sql('select active from webhook_lane')).toEqual([{ active: false }]);
});

test('resumes a subscription paused for a retired version once it pins no retired or unknown version', async () => {
  await world.sql(
    `update webhook_subscription_event_type set event_version = '2020-01-01' where event_type = 'referral.created'`,
  );
  await pause('VERSION_RETIRED');
  await update({ eventTypes: [{ type: 'referral.created' }, { type: 'webhook.test' }] });
  expect(await read()).toMatchObject({ status: 'PAUSED', pausedReason: 'VERSION_RETIRED' });
  await update({ eventTypes: [{ type: 'referral.created', version: '2026-11-01' }] });
  expect(await read()).toMatchObject({ status: 'ACTIVE', pausedReason: null });
  expect(await world.sql('select active from webhook_lane')).toEqual([{ active: true }]);
});

test('does not resume a subscription whose URL becomes gone during the update', async () => {
  // The same URL needs no handshake. The receiver responds 410 after the subscription was read, before it is updated.
  const { store } = world.partnerApi;
  const context = {
    ...world.partnerApi,
    store: {
      ...store,
      transaction: async <Result>(work: Parameters<typeof store.transaction<Result>>[0]): Promise<Result> => {
        await pause('GONE');
        return store.transaction(work);
      },
    },
  };
  const callbackUrl = 'https://receiver.example/hook';
  await updateWebhookSubscription(context, world.partner, { id, callbackUrl });
  expect(world.partnerApi.sender.verified).toEqual([]);
  expect(await read()).toMatchObject({ status: 'PAUSED', pausedReason: 'GONE' });
});

test('returns NOT_FOUND when the subscription is deleted during the handshake', async () => {
  world.partnerApi.sender.result = async () => {
    await deleteWebhookSubscription(world.partnerApi, world.partner, { id });
    return { verified: true };
  };
  expect(await update({ callbackUrl: otherUrl })).toMatchObject({
    webhookSubscription: null,
    userErrors: [{ code: 'NOT_FOUND', field: ['input', 'id'] }],
  });
});

test('deleting erases the secret, the event types and the pending deliveries, once', async () => {
  const remove = () => deleteWebhookSubscription(world.partnerApi, world.partner, { id });
  const results = await Promise.all([remove(), remove(), remove()]);
  expect(results.map(({ deletedWebhookSubscriptionId }) => deletedWebhookSubscriptionId).filter(Boolean)).toEqual([id]);
  expect(await world.sql('select secret_ciphertext from webhook_subscription where deleted_at is not null')).toEqual([
    { secret_ciphertext: Buffer.alloc(0) },
  ]);
  for (const table of ['webhook_lane', 'webhook_subscription_event_type', 'webhook_pending_delivery']) {
    expect({ [table]: await world.sql(`select from ${table}`) }).toEqual({ [table]: [] });
  }
});

test('does not wait for the lane of a subscription of another account', async () => {
  await world.superuser.transaction(async (transaction) => {
    await transaction.query({ name: 'lock', text: 'select from webhook_lane for update' }, []);
    const result = await deleteWebhookSubscription(world.partnerApi, world.otherPartner, { id });
    expect(result.userErrors).toMatchObject([{ code: 'NOT_FOUND' }]);
  });
});
