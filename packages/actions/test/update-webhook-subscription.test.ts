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

test('the same URL, however it is spelled, is not verified again', async () => {
  const before = await read();
  expect(await update({ callbackUrl: 'https://RECEIVER.example:443/hook' })).toEqual({
    webhookSubscription: before,
    userErrors: [],
  });
  expect(world.partnerApi.sender.verified).toEqual([]);
});

test('a new URL is verified with the secret that the subscription has', async () => {
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  ({ id } = await world.subscribe({ webhookSecret: secret }));
  world.partnerApi.sender.verified = [];
  const { webhookSubscription, userErrors } = await update({ callbackUrl: otherUrl });
  expect(userErrors).toEqual([]);
  expect(webhookSubscription?.callbackUrl).toBe(otherUrl);
  expect(world.partnerApi.sender.verified).toEqual([{ url: otherUrl, secret }]);
  expect(world.partnerApi.notified).toBe(1);
});

test('a new URL that does not verify changes nothing, the event types included', async () => {
  const before = await read();
  world.partnerApi.sender.outcome = () => ({ verified: false, code: 'VERIFICATION_MISMATCH', message: 'Another.' });
  const result = await update({ callbackUrl: otherUrl, eventTypes: [{ type: 'referral.converted' }] });
  expect(result).toEqual({
    webhookSubscription: null,
    userErrors: [{ code: 'VERIFICATION_MISMATCH', message: 'Another.', field: ['input', 'callbackUrl'] }],
  });
  expect(await read()).toEqual(before);
});

test('event types are replaced: those that stay keep their pin, new ones get the current version', async () => {
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
  // Naming a version moves the pin.
  const moved = await update({ eventTypes: [{ type: 'referral.created', version: '2026-11-01' }] });
  expect(moved.webhookSubscription?.eventTypes).toEqual([{ type: 'referral.created', version: '2026-11-01' }]);
  expect(world.partnerApi.sender.verified).toEqual([]);
});

test.each([{}, { callbackUrl: null, eventTypes: null }])('what is not named stays: %j', async (input) => {
  const before = await read();
  expect(await update(input)).toEqual({ webhookSubscription: before, userErrors: [] });
});

test('all that is wrong is told at once, and nothing is changed', async () => {
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
  'a subscription whose URL was gone is taken up again at %s, once that verifies',
  async (callbackUrl) => {
    await pause('GONE');
    world.partnerApi.sender.outcome = () => ({ verified: false, code: 'VERIFICATION_STATUS', message: '410' });
    expect((await update({ callbackUrl })).userErrors).toMatchObject([{ code: 'VERIFICATION_STATUS' }]);
    expect(await read()).toMatchObject({ status: 'PAUSED', pausedReason: 'GONE' });
    world.partnerApi.sender.outcome = () => ({ verified: true });
    const { webhookSubscription } = await update({ callbackUrl });
    expect(webhookSubscription).toMatchObject({ status: 'ACTIVE', pausedReason: null, pausedAt: null, callbackUrl });
    expect(await world.sql('select active from webhook_lane')).toEqual([{ active: true }]);
  },
);

test('other event types do not take a subscription up again, nor does a new URL when the owner paused it', async () => {
  await pause('GONE');
  await update({ eventTypes: [{ type: 'referral.created' }] });
  expect(await read()).toMatchObject({ status: 'PAUSED', pausedReason: 'GONE' });
  await pause('OWNER');
  const { webhookSubscription } = await update({ callbackUrl: otherUrl });
  expect(webhookSubscription).toMatchObject({ status: 'PAUSED', pausedReason: 'OWNER', callbackUrl: otherUrl });
  expect(await world.sql('select active from webhook_lane')).toEqual([{ active: false }]);
});

test('paused at the end of a version, it is taken up again when no pin is at its end, whether that is still known or not', async () => {
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

test('an unverified URL is never taken up again, though it turns out to be gone meanwhile', async () => {
  // The same URL needs no handshake; between the look at it and the change, the receiver says that it is gone.
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

test('deleted while its new URL is being verified, it is not found', async () => {
  world.partnerApi.sender.outcome = async () => {
    await deleteWebhookSubscription(world.partnerApi, world.partner, { id });
    return { verified: true };
  };
  expect(await update({ callbackUrl: otherUrl })).toMatchObject({
    webhookSubscription: null,
    userErrors: [{ code: 'NOT_FOUND', field: ['input', 'id'] }],
  });
});

test('deleting forgets the secret, what was to be sent, and what was listed, once', async () => {
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

test("whoever asks for another's subscription does not wait for its lane", async () => {
  await world.superuser.transaction(async (transaction) => {
    await transaction.query({ name: 'lock', text: 'select from webhook_lane for update' }, []);
    const answer = await deleteWebhookSubscription(world.partnerApi, world.otherPartner, { id });
    expect(answer.userErrors).toMatchObject([{ code: 'NOT_FOUND' }]);
  });
});
