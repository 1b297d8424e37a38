import { StoreUnavailableError, type Store } from '@deedwire/store';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createReferral, createWebhookSubscription, listReferrals, listWebhookSubscriptions } from '../src/index.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld();
});

beforeEach(async () => {
  await world.reset();
});

afterAll(async () => {
  await world.close();
});

const refer = (input: object = {}, partner = world.partner) =>
  createReferral(world.partnerApi, partner, { clientName: 'Ada', idempotencyKey: 'key', ...input });
const subscribe = (input: object = {}) =>
  createWebhookSubscription(world.partnerApi, world.partner, {
    callbackUrl: 'https://receiver.example/hook',
    eventTypes: [{ type: 'referral.created' }],
    idempotencyKey: 'key',
    ...input,
  });
const referrals = async () => (await listReferrals(world.partnerApi, world.partner, {})).edges;
const subscriptions = async () => (await listWebhookSubscriptions(world.partnerApi, world.partner, {})).edges;
const events = () => world.sql('select id from outbox_event');
const codes = ({ userErrors }: { userErrors: { code: string }[] }) => userErrors.map(({ code }) => code);

test('the same input gives the same referral again, times included, and reports it once', async () => {
  const first = await refer({ clientEmail: 'ada@example.com', note: null });
  expect(first.userErrors).toEqual([]);
  expect(await refer({ clientEmail: 'ada@example.com' })).toEqual(first);
  expect(first.referral?.createdAt).toBeInstanceOf(Date);
  expect(await referrals()).toHaveLength(1);
  expect(await events()).toHaveLength(1);
});

test('the same input gives the same subscription again, secret included, without another handshake', async () => {
  const first = await subscribe();
  expect(first.webhookSecret).toMatch(/^whsec_/);
  expect(await subscribe()).toEqual(first);
  expect(world.partnerApi.sender.verified).toHaveLength(1);
  expect(await subscriptions()).toHaveLength(1);
  const stored = await world.sql(
    'select payload::text || encode(secret_ciphertext, $$escape$$) as text from idempotency_key',
  );
  expect(JSON.stringify(stored)).not.toContain(first.webhookSecret);
});

test.each([{ clientName: 'Eve' }, { note: '' }, { externalReference: 'x' }, { clientEmail: 'ada@example.com' }])(
  'another input is refused: %j',
  async (input) => {
    await refer();
    expect(await refer(input)).toEqual({
      referral: null,
      userErrors: [
        {
          code: 'IDEMPOTENCY_KEY_REUSED',
          message: 'This idempotency key was used before with another input.',
          field: ['input', 'idempotencyKey'],
        },
      ],
    });
    expect(await referrals()).toHaveLength(1);
  },
);

test.each([
  { callbackUrl: 'https://receiver.example/other' },
  { eventTypes: [{ type: 'referral.declined' }] },
  { eventTypes: [{ type: 'referral.created', version: '2026-11-01' }] },
  { webhookSecret: `whsec_${Buffer.alloc(32).toString('base64')}` },
])('another input of a subscription is refused: %j', async (input) => {
  await subscribe();
  expect(codes(await subscribe(input))).toEqual(['IDEMPOTENCY_KEY_REUSED']);
  expect(await subscriptions()).toHaveLength(1);
});

test('a key belongs to one account and one mutation', async () => {
  const own = await refer();
  const others = await refer({}, world.otherPartner);
  expect(others.referral?.id).not.toBe(own.referral?.id);
  expect((await subscribe()).userErrors).toEqual([]);
});

test.each(['', 'x'.repeat(65), 'naïve', 'a\nb', 'a\0b'])('%j is no key', async (idempotencyKey) => {
  expect(codes(await refer({ idempotencyKey }))).toEqual(['IDEMPOTENCY_KEY_INVALID']);
  expect(await referrals()).toEqual([]);
});

test.each([null, undefined])('without a key (%s) each request does its work', async (idempotencyKey) => {
  await refer({ idempotencyKey });
  await refer({ idempotencyKey });
  expect(await referrals()).toHaveLength(2);
});

test('of many requests at once with one key, one does the work', async () => {
  const results = await Promise.all(Array.from({ length: 8 }, () => refer()));
  expect(await referrals()).toHaveLength(1);
  expect(await events()).toHaveLength(1);
  const refused = results.filter(({ referral }) => referral === null);
  expect(refused.flatMap(codes)).toEqual(refused.map(() => 'IDEMPOTENCY_IN_PROGRESS'));
  const [created] = results.flatMap(({ referral }) => (referral === null ? [] : [referral]));
  expect((await refer()).referral).toEqual(created);
});

test('while the first is still being worked on, the second is told so', async () => {
  const { sender } = world.partnerApi;
  const answer = Promise.withResolvers<{ verified: true }>();
  const asked = Promise.withResolvers<void>();
  sender.outcome = () => {
    asked.resolve();
    return answer.promise;
  };
  const first = subscribe();
  await asked.promise;
  expect(codes(await subscribe())).toEqual(['IDEMPOTENCY_IN_PROGRESS']);
  expect(codes(await subscribe({ callbackUrl: 'https://receiver.example/other' }))).toEqual(['IDEMPOTENCY_KEY_REUSED']);
  answer.resolve({ verified: true });
  expect((await first).userErrors).toEqual([]);
  expect(await subscribe()).toEqual(await first);
});

test('what failed is not kept: the key is free at once', async () => {
  const { sender } = world.partnerApi;
  sender.outcome = () => ({ verified: false, code: 'VERIFICATION_STATUS', message: 'It answered 500.' });
  expect(codes(await subscribe())).toEqual(['VERIFICATION_STATUS']);
  expect(await world.sql('select key from idempotency_key')).toEqual([]);
  sender.outcome = () => ({ verified: true });
  expect((await subscribe({ eventTypes: [{ type: 'referral.declined' }] })).userErrors).toEqual([]);

  expect(codes(await refer({ clientName: '' }))).toEqual(['CLIENT_NAME_INVALID']);
  expect((await refer()).userErrors).toEqual([]);
});

test('what broke is not kept, and nothing of it remains', async () => {
  await world.sql('alter table outbox_event add constraint no_more check (false) not valid');
  await expect(refer()).rejects.toThrow('no_more');
  expect(await referrals()).toEqual([]);
  expect(await world.sql('select key from idempotency_key')).toEqual([]);
  await world.sql('alter table outbox_event drop constraint no_more');
  expect((await refer()).userErrors).toEqual([]);
});

const away = () => Promise.reject(new StoreUnavailableError(new Error('away')));

test('a key that cannot be given back, because the store is away, is given back when it is there again', async () => {
  const { partnerApi } = world;
  const { store } = partnerApi;
  let isAway = false;
  const context = {
    ...partnerApi,
    store: {
      ...store,
      query: ((statement, values) => (isAway ? away() : store.query(statement, values))) satisfies Store['query'],
      transaction() {
        isAway = true;
        return away();
      },
    },
  };
  const broken = createReferral(context, world.partner, { clientName: 'Ada', idempotencyKey: 'key' });
  await expect(broken).rejects.toThrow(StoreUnavailableError);
  expect(codes(await refer())).toEqual(['IDEMPOTENCY_IN_PROGRESS']);
  isAway = false;
  await expect.poll(() => world.sql('select key from idempotency_key'), { timeout: 10_000 }).toEqual([]);
  expect((await refer()).userErrors).toEqual([]);
  expect(await referrals()).toHaveLength(1);
});

/** A claim as a process leaves it that dies before it answers. */
async function leaveClaim(secondsLeft: number): Promise<void> {
  const { sender } = world.partnerApi;
  const asked = Promise.withResolvers<void>();
  sender.outcome = () => {
    asked.resolve();
    return new Promise(() => {});
  };
  void subscribe();
  await asked.promise;
  sender.outcome = () => ({ verified: true });
  await world.sql('update idempotency_key set claimed_until = now() + make_interval(secs => $1)', [secondsLeft]);
}

test('the claim of a process that died is taken over when its time is up, whatever the input', async () => {
  await leaveClaim(60);
  expect(codes(await subscribe())).toEqual(['IDEMPOTENCY_IN_PROGRESS']);
  await world.sql(`update idempotency_key set claimed_until = now() - interval '1 second'`);
  expect((await subscribe({ callbackUrl: 'https://receiver.example/other' })).userErrors).toEqual([]);
  expect(await subscriptions()).toHaveLength(1);
});

test('whose claim was taken over commits nothing, and is told to try again', async () => {
  const { sender } = world.partnerApi;
  const answer = Promise.withResolvers<{ verified: true }>();
  const asked = Promise.withResolvers<void>();
  sender.outcome = () => {
    asked.resolve();
    return answer.promise;
  };
  const slow = subscribe();
  await asked.promise;
  await world.sql(`update idempotency_key set claimed_until = now() - interval '1 second'`);
  sender.outcome = () => ({ verified: true });
  const quick = await subscribe();
  answer.resolve({ verified: true });
  await expect(slow).rejects.toThrow(StoreUnavailableError);
  expect(await subscriptions()).toHaveLength(1);
  expect(await subscribe()).toEqual(quick);
});

test('after 24 hours the key is free again, not before', async () => {
  const first = await refer();
  await world.sql(`update idempotency_key set created_at = now() - interval '23 hours 59 minutes'`);
  expect(await refer()).toEqual(first);
  await world.sql(`update idempotency_key set created_at = now() - interval '24 hours 1 second'`);
  const second = await refer({ clientName: 'Eve' });
  expect(second.referral?.clientName).toBe('Eve');
  expect(await refer({ clientName: 'Eve' })).toEqual(second);
  expect(await referrals()).toHaveLength(2);
});
