import { randomBytes } from 'node:crypto';
import { secretAssociatedData, toRecordId } from '@deedwire/core';
import { createSecretKeyRing, type Store } from '@deedwire/store';
import { connect, eventually } from '@deedwire/testing';
import { beforeEach, expect, test } from 'vitest';
import {
  countSecrets,
  createWebhookSubscription,
  deleteWebhookSubscription,
  type RewrapContext,
  rewrapSecrets,
  rotateWebhookSecret,
  updateWebhookSubscription,
} from '../src/index.ts';
import { interrupted } from './support/interrupted.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const oldKey = randomBytes(32);
const newKey = randomBytes(32);
const oldRing = createSecretKeyRing(new Map([['old', oldKey]]));
const newRing = createSecretKeyRing(new Map([['new', newKey]]));
const bothRing = createSecretKeyRing(
  new Map([
    ['new', newKey],
    ['old', oldKey],
  ]),
);

beforeEach(() => {
  world.customerApi.secretKeys = oldRing;
});

const operator = (store: Store = world.operator.store): RewrapContext => ({
  ...world.operator,
  store,
  secretKeys: bothRing,
});

const subscribe = (key: string) =>
  createWebhookSubscription(world.customerApi, world.customer, {
    callbackUrl: 'https://receiver.example/hook',
    eventTypes: [{ type: 'order.placed' }],
    idempotencyKey: key,
  });

const recordIdOf = (id: string | undefined) => id?.split('/').at(-1) ?? '';

test('encrypts every secret with the first key, so that the other key can go', async () => {
  const first = await subscribe('first');
  const deleted = await subscribe('deleted');
  await deleteWebhookSubscription(world.customerApi, world.customer, { id: deleted.webhookSubscription?.id ?? '' });
  world.customerApi.secretKeys = bothRing;
  await subscribe('recent');

  expect(await countSecrets(world.operator)).toEqual([
    { table: 'webhook_subscription', keyId: 'old', secrets: 1 },
    { table: 'webhook_subscription', keyId: 'new', secrets: 1 },
    { table: 'idempotency_key', keyId: 'old', secrets: 1 },
    { table: 'idempotency_key', keyId: 'new', secrets: 1 },
  ]);
  const report = await rewrapSecrets(operator());
  expect(report).toMatchObject({ currentKeyId: 'new', unreadable: 0, examples: [] });
  expect(report.after).toEqual([
    { table: 'webhook_subscription', keyId: 'new', secrets: 2 },
    { table: 'idempotency_key', keyId: 'new', secrets: 2 },
  ]);
  expect(await countSecrets(world.operator)).toEqual(report.after);

  world.customerApi.secretKeys = newRing;
  expect(await subscribe('first')).toEqual({ ...first, isRepeated: true });
  const moved = { id: first.webhookSubscription?.id ?? '', callbackUrl: 'https://receiver.example/moved' };
  expect((await updateWebhookSubscription(world.customerApi, world.customer, moved)).userErrors).toEqual([]);
  expect(world.customerApi.sender.verified.at(-1)).toEqual({ url: moved.callbackUrl, secret: first.webhookSecret });
});

test('encrypts both secrets of a rotation', async () => {
  const { webhookSubscription, webhookSecret } = await subscribe('key');
  const id = webhookSubscription?.id ?? '';
  const rotated = await rotateWebhookSecret(world.customerApi, world.customer, { id });
  expect(await countSecrets(world.operator)).toEqual([
    { table: 'webhook_subscription', keyId: 'old', secrets: 2 },
    { table: 'idempotency_key', keyId: 'old', secrets: 1 },
  ]);
  expect((await rewrapSecrets(operator())).after).toEqual([
    { table: 'webhook_subscription', keyId: 'new', secrets: 2 },
    { table: 'idempotency_key', keyId: 'new', secrets: 1 },
  ]);
  world.customerApi.secretKeys = newRing;
  await updateWebhookSubscription(world.customerApi, world.customer, {
    id,
    callbackUrl: 'https://receiver.example/moved',
  });
  expect(world.customerApi.sender.verified.at(-1)).toMatchObject({
    secret: webhookSecret,
    nextSecret: rotated.webhookSecret,
  });
});

test('does not bring back a new secret whose rotation was completed after it was read', async () => {
  const { webhookSubscription } = await subscribe('key');
  const id = webhookSubscription?.id ?? '';
  const { webhookSecret } = await rotateWebhookSecret(world.customerApi, world.customer, { id });
  await world.sql(`update webhook_subscription set rotation_ends_at = now() - interval '1 s'`);
  const complete = () => world.sql('select webhook_end_rotations(10)');
  await rewrapSecrets(operator(interrupted(world.operator.store, complete)));
  const [row] = await world.sql(
    'select secret_ciphertext as bytes, next_secret_ciphertext as next from webhook_subscription',
  );
  expect(row?.['next']).toBe(null);
  const bytes = row?.['bytes'];
  expect(Buffer.isBuffer(bytes) && newRing.decrypt(bytes, secretAssociatedData(toRecordId(recordIdOf(id))))).toBe(
    webhookSecret,
  );
});

test('records what it changed in the audit log, and nothing when there is nothing to change', async () => {
  await subscribe('key');
  await rewrapSecrets(operator());
  await rewrapSecrets(operator());
  const entries = await world.sql(
    `select actor, subject, details from audit_entry where action = 'secrets.rewrap' order by number`,
  );
  expect(entries).toEqual([
    { actor: 'ada', subject: 'new', details: { table: 'webhook_subscription', secrets: 1 } },
    { actor: 'ada', subject: 'new', details: { table: 'idempotency_key', secrets: 1 } },
  ]);
});

test('does not bring back a secret that was deleted after it was read', async () => {
  const kept = await subscribe('kept');
  const deleted = await subscribe('deleted');
  const store = interrupted(world.operator.store, () =>
    deleteWebhookSubscription(world.customerApi, world.customer, { id: deleted.webhookSubscription?.id ?? '' }),
  );
  expect(await rewrapSecrets(operator(store))).toMatchObject({
    after: [
      { table: 'webhook_subscription', keyId: 'new', secrets: 1 },
      { table: 'idempotency_key', keyId: 'new', secrets: 1 },
    ],
  });
  expect(
    await world.sql('select id, secret_ciphertext as bytes from webhook_subscription where deleted_at is not null'),
  ).toEqual([{ id: recordIdOf(deleted.webhookSubscription?.id), bytes: Buffer.alloc(0) }]);
  expect(await world.sql(`select secret_ciphertext as bytes from idempotency_key where key = 'deleted'`)).toEqual([
    { bytes: null },
  ]);
  world.customerApi.secretKeys = newRing;
  expect(await subscribe('kept')).toEqual({ ...kept, isRepeated: true });
});

test('does not overwrite a ciphertext that was replaced after it was read', async () => {
  const { webhookSubscription } = await subscribe('key');
  const id = recordIdOf(webhookSubscription?.id);
  const associatedData = secretAssociatedData(toRecordId(id));
  const replace = () =>
    world.sql('update webhook_subscription set secret_ciphertext = $2 where id = $1', [
      id,
      oldRing.encrypt('whsec_other', associatedData),
    ]);
  await rewrapSecrets(operator(interrupted(world.operator.store, replace)));
  const [row] = await world.sql('select secret_ciphertext as bytes from webhook_subscription');
  const bytes = row?.['bytes'];
  expect(Buffer.isBuffer(bytes) && newRing.decrypt(bytes, associatedData)).toBe('whsec_other');
});

test('passes over a row that is locked, and returns to it', async () => {
  const locked = await subscribe('locked');
  await subscribe('free');
  const connection = await connect(world.databaseUrl);
  await connection.run('begin');
  await connection.run('select from webhook_subscription where id = $1 for update', [
    recordIdOf(locked.webhookSubscription?.id),
  ]);
  const newSecrets = async () =>
    (await countSecrets(world.operator)).find(
      ({ table, keyId }) => table === 'webhook_subscription' && keyId === 'new',
    );
  const rewrapped = rewrapSecrets(operator());
  // The other row does not wait for this one.
  await eventually(async () => expect(await newSecrets()).toMatchObject({ secrets: 1 }));
  await connection.run('rollback');
  expect((await rewrapped).after).toEqual([
    { table: 'webhook_subscription', keyId: 'new', secrets: 2 },
    { table: 'idempotency_key', keyId: 'new', secrets: 2 },
  ]);
  await connection.close();
});

test('counts and changes no secret of an account that is at home in another cell', async () => {
  await subscribe('first');
  const before = await countSecrets(world.operator);
  await world.sql('insert into account_home (account_id, cell) values ($1, 1)', [world.customer.accountId]);
  expect(await countSecrets(world.operator)).toEqual([]);
  expect(await rewrapSecrets(operator())).toMatchObject({ after: [], unreadable: 0 });
  await world.sql('delete from account_home');
  expect(await countSecrets(world.operator)).toEqual(before);
});

test('leaves secrets of unknown keys as they are, and names them', async () => {
  world.customerApi.secretKeys = createSecretKeyRing(new Map([['lost', randomBytes(32)]]));
  const lost = await subscribe('lost');
  world.customerApi.secretKeys = oldRing;
  const broken = await subscribe('broken');
  await world.sql(`update webhook_subscription set secret_ciphertext = 'x' where id = $1`, [
    recordIdOf(broken.webhookSubscription?.id),
  ]);
  await subscribe('readable');
  const before = await world.sql('select secret_ciphertext from webhook_subscription order by id limit 2');

  const reason = `WEBHOOK_SECRET_KEYS contains no key 'lost'. Add the key that encrypted this secret.`;
  expect(await rewrapSecrets(operator())).toMatchObject({
    after: [
      { table: 'webhook_subscription', keyId: 'lost', secrets: 1 },
      { table: 'webhook_subscription', keyId: null, secrets: 1 },
      { table: 'webhook_subscription', keyId: 'new', secrets: 1 },
      { table: 'idempotency_key', keyId: 'new', secrets: 2 },
      { table: 'idempotency_key', keyId: 'lost', secrets: 1 },
    ],
    unreadable: 3,
    examples: [
      { id: lost.webhookSubscription?.id, reason },
      { id: broken.webhookSubscription?.id, reason: 'The encrypted secret is truncated.' },
      { id: `${world.customer.gid} idempotency key 'lost'`, reason },
    ],
  });
  expect(await world.sql('select secret_ciphertext from webhook_subscription order by id limit 2')).toEqual(before);
});

test('two calls at the same time share the work of many pages', async () => {
  const { accountId } = world.customer;
  const ids = Array.from({ length: 1_201 }, (_, index) => String(index + 1));
  await world.sql(
    `insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
     select id, $2, 'customer', '', bytes, 0 from unnest($1::bigint[], $3::bytea[]) as t (id, bytes)`,
    [ids, accountId, ids.map((id) => oldRing.encrypt(`whsec_${id}`, secretAssociatedData(toRecordId(id))))],
  );
  let rowsRead = 0;
  const reports = await Promise.all([
    rewrapSecrets(operator(), (rows) => (rowsRead = rows)),
    rewrapSecrets(operator()),
  ]);
  for (const { after } of reports) {
    expect(after).toEqual([{ table: 'webhook_subscription', keyId: 'new', secrets: 1_201 }]);
  }
  expect(rowsRead).toBeGreaterThanOrEqual(2 * 1_201);
  const rows = await world.sql('select id, secret_ciphertext as bytes from webhook_subscription');
  const readable = rows.filter(({ id, bytes }) => {
    const associatedData = secretAssociatedData(toRecordId(String(id)));
    return Buffer.isBuffer(bytes) && newRing.decrypt(bytes, associatedData) === `whsec_${String(id)}`;
  });
  expect(readable).toHaveLength(1_201);
  expect(
    await world.sql(`select sum((details ->> 'secrets')::int)::int from audit_entry where action = 'secrets.rewrap'`),
  ).toEqual([{ sum: 1_201 }]);
});
