import { secretAssociatedData, toRecordId } from '@deedwire/core';
import { beforeEach, expect, test } from 'vitest';
import {
  deleteWebhookSubscription,
  findWebhookSubscription,
  rotateWebhookSecret,
  type RotateWebhookSecretInput,
  updateWebhookSubscription,
} from '../src/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const [oldSecret, newSecret, thirdSecret] = [secretOf(1), secretOf(2), secretOf(3)];

let id: string;

beforeEach(async () => {
  ({ id } = await world.subscribe({ webhookSecret: oldSecret }));
  world.customerApi.notified = 0;
  await world.sql('delete from webhook_event_queue');
});

const rotate = (input: Partial<RotateWebhookSecretInput> = {}) =>
  rotateWebhookSecret(world.customerApi, world.customer, { id, ...input });
const read = () => findWebhookSubscription(world.customerApi, world.customer, id);

/** What is stored, decrypted. */
async function stored() {
  const [row] = await world.sql(
    `select secret_ciphertext as secret, next_secret_ciphertext as next,
       extract(epoch from rotation_ends_at - rotation_started_at)::int as seconds
     from webhook_subscription where id = $1`,
    [id.split('/').at(-1)],
  );
  const open = (bytes: unknown) =>
    Buffer.isBuffer(bytes)
      ? world.customerApi.secretKeys.decrypt(bytes, secretAssociatedData(toRecordId(id.split('/').at(-1) ?? '')))
      : null;
  return { secret: open(row?.['secret']), next: open(row?.['next']), seconds: row?.['seconds'] };
}

/** Moves the rotation into the past, so that it has ended. */
const endRotation = () =>
  world.sql(
    `update webhook_subscription
     set rotation_started_at = now() - interval '2 days', rotation_ends_at = now() - interval '1 ms'
     where rotation_ends_at is not null`,
  );
const endRotations = async () => (await world.sql('select webhook_end_rotations(10)::int as count'))[0]?.['count'];

test('keeps both secrets for a day, and tells the worker', async () => {
  const { webhookSubscription, webhookSecret, userErrors } = await rotate();
  expect(userErrors).toEqual([]);
  expect(webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(await stored()).toEqual({ secret: oldSecret, next: webhookSecret, seconds: 86_400 });
  expect(webhookSubscription).toEqual(await read());
  expect(webhookSubscription?.rotation).toEqual({ startedAt: expect.any(Date), endsAt: expect.any(Date) });
  expect(world.customerApi.sender.verified).toHaveLength(1);
  expect(await world.sql('select event_id, subscription_id from webhook_event_queue')).toEqual([
    { event_id: null, subscription_id: id.split('/').at(-1) },
  ]);
  expect(world.customerApi.notified).toBe(1);
});

test('takes the secret and the overlap of the client', async () => {
  const { webhookSecret } = await rotate({ webhookSecret: newSecret, overlapSeconds: 604_800 });
  expect(webhookSecret).toBe(newSecret);
  expect(await stored()).toEqual({ secret: oldSecret, next: newSecret, seconds: 604_800 });
});

test('without an overlap, replaces the secret at once', async () => {
  const { webhookSubscription } = await rotate({ webhookSecret: newSecret, overlapSeconds: 0 });
  expect(webhookSubscription?.rotation).toBe(null);
  expect(await stored()).toEqual({ secret: newSecret, next: null, seconds: null });
});

test('is in progress until its end, and then leaves the new secret only', async () => {
  const first = await rotate({ webhookSecret: newSecret });
  const endsAt = first.webhookSubscription?.rotation?.endsAt.toISOString();
  expect((await rotate({ overlapSeconds: 60 })).userErrors).toEqual([
    {
      code: 'ROTATION_IN_PROGRESS',
      message: `The secret is being rotated until ${endsAt}. Rotate it again after that time, or with an overlap of 0, which ends this rotation.`,
      field: ['input', 'id'],
    },
  ]);
  await endRotation();
  expect((await read())?.rotation).toBe(null);
  expect(await endRotations()).toBe(1);
  expect(await stored()).toEqual({ secret: newSecret, next: null, seconds: null });
  expect(await endRotations()).toBe(0);
});

test.each([0, 60])(
  'completes a rotation that has ended before another one with an overlap of %i s',
  async (overlap) => {
    await rotate({ webhookSecret: newSecret });
    await endRotation();
    const { userErrors } = await rotate({ webhookSecret: thirdSecret, overlapSeconds: overlap });
    expect(userErrors).toEqual([]);
    expect(await stored()).toEqual(
      overlap === 0
        ? { secret: thirdSecret, next: null, seconds: null }
        : { secret: newSecret, next: thirdSecret, seconds: 60 },
    );
    expect(await endRotations()).toBe(0);
  },
);

test.each([
  ['another secret', thirdSecret],
  ['its new secret', newSecret],
])('without an overlap, %s ends a rotation in progress', async (_, webhookSecret) => {
  await rotate({ webhookSecret: newSecret });
  const { webhookSubscription, userErrors } = await rotate({ webhookSecret, overlapSeconds: 0 });
  expect([userErrors, webhookSubscription?.rotation]).toEqual([[], null]);
  expect(await stored()).toEqual({ secret: webhookSecret, next: null, seconds: null });
  expect(await endRotations()).toBe(0);
});

test('of two rotations at the same time, one is refused', async () => {
  const results = await Promise.all([rotate(), rotate(), rotate()]);
  const codes = results.map(({ userErrors }) => userErrors.map(({ code }) => code).join());
  expect(codes.toSorted()).toEqual(['', 'ROTATION_IN_PROGRESS', 'ROTATION_IN_PROGRESS']);
});

test.each<[string, Partial<RotateWebhookSecretInput>, string, string]>([
  [
    'a short secret',
    { webhookSecret: `whsec_${Buffer.alloc(23).toString('base64')}` },
    'WEBHOOK_SECRET_INVALID webhookSecret',
    'A webhook secret is `whsec_` and the base64 of 24 to 64 bytes. This one has 23 bytes.',
  ],
  [
    'the present secret',
    { webhookSecret: oldSecret },
    'WEBHOOK_SECRET_INVALID webhookSecret',
    'This is the present secret. Pass another one, or omit it to have one generated.',
  ],
  [
    'a negative overlap',
    { overlapSeconds: -1 },
    'OVERLAP_INVALID overlapSeconds',
    'The overlap must be 0 to 604,800 seconds (7 days); it is -1.',
  ],
  [
    'an overlap of more than 7 days',
    { overlapSeconds: 604_801 },
    'OVERLAP_INVALID overlapSeconds',
    'The overlap must be 0 to 604,800 seconds (7 days); it is 604,801.',
  ],
])('refuses %s', async (_, input, code, message) => {
  const { webhookSubscription, webhookSecret, userErrors } = await rotate(input);
  expect({ webhookSubscription, webhookSecret }).toEqual({ webhookSubscription: null, webhookSecret: null });
  expect(userErrors.map((error) => `${error.code} ${error.field?.at(-1)}`)).toEqual([code]);
  expect(userErrors[0]?.message).toBe(message);
  expect(await stored()).toEqual({ secret: oldSecret, next: null, seconds: null });
  expect(await world.sql('select from webhook_event_queue')).toEqual([]);
});

test('reports every problem at once, including with an invalid key', async () => {
  const { userErrors } = await rotate({ webhookSecret: 'x', overlapSeconds: -1, idempotencyKey: '' });
  expect(userErrors.map(({ code }) => code)).toEqual([
    'WEBHOOK_SECRET_INVALID',
    'OVERLAP_INVALID',
    'IDEMPOTENCY_KEY_INVALID',
  ]);
});

test('a repeated request gets the same secret, which is stored encrypted only', async () => {
  const first = await rotate({ idempotencyKey: 'key' });
  const secret = first.webhookSecret ?? '';
  expect(await rotate({ idempotencyKey: 'key', overlapSeconds: 86_400 })).toEqual({ ...first, isRepeated: true });
  expect((await rotate({ idempotencyKey: 'key', overlapSeconds: 60 })).userErrors).toMatchObject([
    { code: 'IDEMPOTENCY_KEY_REUSED' },
  ]);
  const dump = await world.sql(`select to_jsonb(k)::text as row from idempotency_key k`);
  expect(dump).toHaveLength(1);
  expect(String(dump[0]?.['row'])).not.toContain(secret.slice('whsec_'.length, -1));
  await endRotation();
  expect(await rotate({ idempotencyKey: 'key' })).toEqual({ ...first, isRepeated: true });
});

test('a deletion erases both secrets and the saved result', async () => {
  await rotate({ idempotencyKey: 'key' });
  await deleteWebhookSubscription(world.customerApi, world.customer, { id });
  expect(
    await world.sql(
      `select secret_ciphertext as secret, next_secret_ciphertext as next, rotation_started_at as started, rotation_ends_at as ends
       from webhook_subscription`,
    ),
  ).toEqual([{ secret: Buffer.alloc(0), next: null, started: null, ends: null }]);
  expect(await world.sql('select payload, secret_ciphertext as secret from idempotency_key')).toEqual([
    { payload: null, secret: null },
  ]);
  expect((await rotate({ idempotencyKey: 'key' })).userErrors).toMatchObject([{ code: 'IDEMPOTENCY_KEY_REUSED' }]);
});

test('housekeeping erases what a deletion by an earlier release leaves', async () => {
  await rotate();
  await world.sql(`update webhook_subscription set deleted_at = now(), callback_url = '', secret_ciphertext = ''`);
  expect(await endRotations()).toBe(1);
  expect(
    await world.sql('select secret_ciphertext as secret, next_secret_ciphertext as next from webhook_subscription'),
  ).toEqual([{ secret: Buffer.alloc(0), next: null }]);
});

test('a handshake is signed with both secrets during the overlap, and with the new one after it', async () => {
  const move = (path: string) =>
    updateWebhookSubscription(world.customerApi, world.customer, {
      id,
      callbackUrl: `https://receiver.example/${path}`,
    });
  await rotate({ webhookSecret: newSecret });
  await move('during');
  await endRotation();
  await move('after');
  expect(world.customerApi.sender.verified.slice(1)).toEqual([
    { url: 'https://receiver.example/during', secret: oldSecret, nextSecret: newSecret },
    { url: 'https://receiver.example/after', secret: newSecret },
  ]);
});

test('a secret that no key can decrypt has no overlap, in which nothing could be sent', async () => {
  await world.sql(`update webhook_subscription set secret_ciphertext = 'x'`);
  const { webhookSubscription, userErrors } = await rotate({ webhookSecret: newSecret });
  expect(webhookSubscription).toBe(null);
  expect(userErrors).toMatchObject([
    { code: 'OVERLAP_INVALID', message: expect.stringContaining('Rotate it with an overlap of 0.') },
  ]);
  expect((await rotate({ webhookSecret: newSecret, overlapSeconds: 0 })).userErrors).toEqual([]);
  expect(await stored()).toEqual({ secret: newSecret, next: null, seconds: null });
});
