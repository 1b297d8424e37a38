import { createWebhookSubscription, deleteWebhookSubscription, listWebhookSubscriptions } from '@deedwire/actions';
import { withoutOutbox } from '@deedwire/actions/test-support';
import { StoreUnavailableError, type Store } from '@deedwire/store';
import { expect, test } from 'vitest';
import { createReferral, listReferrals } from '../src/partner/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const refer = (input: object = {}, partner = world.partner) =>
  createReferral(world.partnerApi, partner, { clientName: 'Ada', idempotencyKey: 'key', ...input });
const subscribe = (input: object = {}, context = world.partnerApi) =>
  createWebhookSubscription(context, world.partner, {
    callbackUrl: 'https://receiver.example/hook',
    eventTypes: [{ type: 'referral.created' }],
    idempotencyKey: 'key',
    ...input,
  });
const referrals = async () => (await listReferrals(world.partnerApi, world.partner, {})).edges;
const subscriptions = async () => (await listWebhookSubscriptions(world.partnerApi, world.partner, {})).edges;
const events = () => world.sql('select event_id from webhook_event_queue where event_id is not null');
const codes = ({ userErrors }: { userErrors: { code: string }[] }) => userErrors.map(({ code }) => code);

test('returns the same referral, including times, for the same input, and appends one event', async () => {
  const first = await refer({ clientEmail: 'ada@example.com', note: null });
  expect(first.userErrors).toEqual([]);
  expect(await refer({ clientEmail: 'ada@example.com' })).toEqual({ ...first, isRepeated: true });
  expect(first.referral?.createdAt).toBeInstanceOf(Date);
  expect(await referrals()).toHaveLength(1);
  expect(await events()).toHaveLength(1);
});

test('returns the same subscription, including its secret, for the same input, without another handshake', async () => {
  const first = await subscribe();
  expect(first.webhookSecret).toMatch(/^whsec_/);
  expect(await subscribe()).toEqual({ ...first, isRepeated: true });
  expect(world.partnerApi.sender.verified).toHaveLength(1);
  expect(await subscriptions()).toHaveLength(1);
  const stored = await world.sql(
    'select payload::text || encode(secret_ciphertext, $$escape$$) as text from idempotency_key',
  );
  expect(JSON.stringify(stored)).not.toContain(first.webhookSecret);
});

test('erases the saved result and the secret when the subscription is deleted, and rejects the key', async () => {
  const first = await subscribe();
  const other = await subscribe({ idempotencyKey: 'other' });
  await deleteWebhookSubscription(world.partnerApi, world.partner, { id: first.webhookSubscription?.id ?? '' });
  expect(await subscribe()).toEqual({
    webhookSubscription: null,
    webhookSecret: null,
    userErrors: [
      {
        code: 'IDEMPOTENCY_KEY_REUSED',
        message: 'This idempotency key was used before, and the record that it created was deleted. Use another key.',
        field: ['input', 'idempotencyKey'],
      },
    ],
  });
  // Not even after the claim of the first request has expired.
  await world.sql(`update idempotency_key set claimed_until = now() - interval '1 hour'`);
  expect(codes(await subscribe())).toEqual(['IDEMPOTENCY_KEY_REUSED']);
  expect(
    await world.sql(`select payload, secret_ciphertext, input_hash from idempotency_key where key = 'key'`),
  ).toEqual([{ payload: null, secret_ciphertext: null, input_hash: Buffer.alloc(0) }]);
  expect(await subscribe({ idempotencyKey: 'other' })).toEqual({ ...other, isRepeated: true });
  // After 24 hours the key is new.
  await world.sql(`update idempotency_key set created_at = now() - interval '25 hours'`);
  expect((await subscribe()).userErrors).toEqual([]);
});

test('rejects the key with another value of any field', async () => {
  await refer();
  const message = 'This idempotency key was used before with another input.';
  const reused = { code: 'IDEMPOTENCY_KEY_REUSED', message, field: ['input', 'idempotencyKey'] };
  for (const input of [{ clientName: 'Eve' }, { note: '' }, { externalReference: 'x' }, { clientEmail: 'a@b.example' }])
    expect(await refer(input)).toEqual({ referral: null, userErrors: [reused] });
  expect(await referrals()).toHaveLength(1);

  await world.sql('delete from idempotency_key');
  await subscribe();
  for (const input of [
    { callbackUrl: 'https://receiver.example/other' },
    { eventTypes: [{ type: 'referral.declined' }] },
    { eventTypes: [{ type: 'referral.created', version: '2026-11-01' }] },
    { webhookSecret: `whsec_${Buffer.alloc(32).toString('base64')}` },
  ])
    expect((await subscribe(input)).userErrors).toEqual([reused]);
  expect(await subscriptions()).toHaveLength(1);
});

test('separates the keys of accounts and mutations', async () => {
  const own = await refer();
  const others = await refer({}, world.otherPartner);
  expect(others.referral?.id).not.toBe(own.referral?.id);
  expect((await subscribe()).userErrors).toEqual([]);
});

test.each(['', 'x'.repeat(65), 'naïve', 'a\nb', 'a\0b'])('rejects the key %j', async (idempotencyKey) => {
  expect(codes(await refer({ idempotencyKey }))).toEqual(['IDEMPOTENCY_KEY_INVALID']);
  expect(codes(await refer({ idempotencyKey, clientName: ' ' }))).toEqual([
    'CLIENT_NAME_INVALID',
    'IDEMPOTENCY_KEY_INVALID',
  ]);
  expect(await referrals()).toEqual([]);
});

test.each([null, undefined])('executes every request without a key (%s)', async (idempotencyKey) => {
  await refer({ idempotencyKey });
  await refer({ idempotencyKey });
  expect(await referrals()).toHaveLength(2);
});

test('executes one of several concurrent requests with the same key', async () => {
  const results = await Promise.all(Array.from({ length: 8 }, () => refer()));
  expect(await referrals()).toHaveLength(1);
  expect(await events()).toHaveLength(1);
  const refused = results.filter(({ referral }) => referral === null);
  expect(refused.flatMap(codes)).toEqual(refused.map(() => 'IDEMPOTENCY_IN_PROGRESS'));
  const [created] = results.flatMap(({ referral }) => (referral === null ? [] : [referral]));
  expect((await refer()).referral).toEqual(created);
});

/** Begins to subscribe, with a handshake that waits until `respond` is called. Later handshakes succeed. */
async function beginSubscribing() {
  const { sender } = world.partnerApi;
  const response = Promise.withResolvers<{ verified: true }>();
  const requested = Promise.withResolvers<void>();
  sender.result = () => {
    requested.resolve();
    return response.promise;
  };
  const subscribed = subscribe();
  await requested.promise;
  sender.result = () => ({ verified: true });
  // Inside an object, so that `await` does not wait for it.
  return { subscribed, respond: () => response.resolve({ verified: true }) };
}

test('returns IDEMPOTENCY_IN_PROGRESS while the first request is in progress', async () => {
  const { subscribed, respond } = await beginSubscribing();
  expect(codes(await subscribe())).toEqual(['IDEMPOTENCY_IN_PROGRESS']);
  expect(codes(await subscribe({ callbackUrl: 'https://receiver.example/other' }))).toEqual(['IDEMPOTENCY_KEY_REUSED']);
  respond();
  expect((await subscribed).userErrors).toEqual([]);
  expect(await subscribe()).toEqual({ ...(await subscribed), isRepeated: true });
});

test('releases the key of a request that was rejected', async () => {
  const { sender } = world.partnerApi;
  sender.result = () => ({ verified: false, code: 'VERIFICATION_STATUS', message: 'The response has the status 500.' });
  expect(codes(await subscribe())).toEqual(['VERIFICATION_STATUS']);
  expect(await world.sql('select key from idempotency_key')).toEqual([]);
  sender.result = () => ({ verified: true });
  expect((await subscribe({ eventTypes: [{ type: 'referral.declined' }] })).userErrors).toEqual([]);

  expect(codes(await refer({ clientName: '' }))).toEqual(['CLIENT_NAME_INVALID']);
  expect((await refer()).userErrors).toEqual([]);
});

test('releases the key and rolls back when a request fails', async () => {
  await withoutOutbox(world, async () => {
    await expect(refer()).rejects.toThrow('no_more');
    expect(await referrals()).toEqual([]);
    expect(await world.sql('select key from idempotency_key')).toEqual([]);
  });
  expect((await refer()).userErrors).toEqual([]);
});

const unavailable = () => Promise.reject(new StoreUnavailableError(new Error('unavailable')));

test('releases the key once the database is available again', async () => {
  const { partnerApi } = world;
  const { store } = partnerApi;
  let isUnavailable = false;
  const context = {
    ...partnerApi,
    store: {
      ...store,
      query: ((statement, values) =>
        isUnavailable ? unavailable() : store.query(statement, values)) satisfies Store['query'],
      transaction() {
        isUnavailable = true;
        return unavailable();
      },
    },
  };
  await expect(subscribe({}, context)).rejects.toThrow(StoreUnavailableError);
  expect(codes(await subscribe())).toEqual(['IDEMPOTENCY_IN_PROGRESS']);
  isUnavailable = false;
  await expect.poll(() => world.sql('select key from idempotency_key')).toEqual([]);
  expect((await subscribe()).userErrors).toEqual([]);
  expect(await subscriptions()).toHaveLength(1);
});

const setClaim = (secondsLeft: number) =>
  world.sql('update idempotency_key set claimed_until = now() + make_interval(secs => $1)', [secondsLeft]);

test('takes over an expired claim, with any input', async () => {
  // As a process does that dies before it responds.
  await beginSubscribing();
  await setClaim(60);
  expect(codes(await subscribe())).toEqual(['IDEMPOTENCY_IN_PROGRESS']);
  await setClaim(-1);
  expect((await subscribe({ callbackUrl: 'https://receiver.example/other' })).userErrors).toEqual([]);
  expect(await subscriptions()).toHaveLength(1);
});

test('rolls back and throws StoreUnavailableError when its claim was taken over', async () => {
  const { subscribed, respond } = await beginSubscribing();
  await setClaim(-1);
  const quick = await subscribe();
  respond();
  await expect(subscribed).rejects.toThrow(StoreUnavailableError);
  expect(await subscriptions()).toHaveLength(1);
  expect(await subscribe()).toEqual({ ...quick, isRepeated: true });
});

test('frees a key after 24 hours, and not earlier', async () => {
  const first = await refer();
  await world.sql(`update idempotency_key set created_at = now() - interval '23 hours 59 minutes'`);
  expect(await refer()).toEqual({ ...first, isRepeated: true });
  await world.sql(`update idempotency_key set created_at = now() - interval '24 hours 1 second'`);
  const second = await refer({ clientName: 'Eve' });
  expect(second.referral?.clientName).toBe('Eve');
  expect(await refer({ clientName: 'Eve' })).toEqual({ ...second, isRepeated: true });
  expect(await referrals()).toHaveLength(2);
});
