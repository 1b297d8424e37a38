import { createHash, randomBytes } from 'node:crypto';
import { requestHeaderAssociatedData, secretAssociatedData, toRecordId } from '@deedwire/core';
import { createSecretKeyRing, SecretUnreadableError } from '@deedwire/store';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  changeSubscriptionSettings,
  createWebhookSubscription,
  type CreateWebhookSubscriptionInput,
  deleteWebhookSubscription,
  findWebhookSubscription,
  resumeWebhookSubscription,
  rewrapSecrets,
  updateWebhookSubscription,
  type UpdateWebhookSubscriptionInput,
} from '../src/index.ts';
import { deleteSubscriptionOfAccount } from '../src/subscriptions/webhook-subscriptions.ts';
import { interrupted } from './support/interrupted.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const secret = 'dG9rZW4gb2YgYSBnYXRld2F5';
const header = { name: 'Authorization', value: `Bearer ${secret}` };
const url = 'https://receiver.example/hook';
const otherUrl = 'https://other.example/hook';

const ring = createSecretKeyRing(new Map([['test', randomBytes(32)]]));

let id: string;

beforeEach(async () => {
  world.customerApi.secretKeys = ring;
  ({ id } = await world.subscribe({ requestHeader: header }));
  world.customerApi.sender.verified = [];
  world.customerApi.notified = 0;
});

const update = (input: Omit<UpdateWebhookSubscriptionInput, 'id'>) =>
  updateWebhookSubscription(world.customerApi, world.customer, { id, ...input });
const verified = () => world.customerApi.sender.verified.map(({ url: to, secretHeader }) => [to, secretHeader]);
const state = async () => {
  const found = await findWebhookSubscription(world.customerApi, world.customer, id);
  return [found?.requestHeaderName, found?.headerState];
};
const row = async () => {
  const [found] = await world.sql(
    'select id, request_header_name as name, request_header_ciphertext as ciphertext, request_header_origin as origin from webhook_subscription order by deleted_at nulls first',
  );
  return found ?? {};
};
/** Decrypts the stored value for an origin, with what the row says otherwise. */
const decryptFor = async (origin: string) => {
  const { id: recordId, name, ciphertext } = await row();
  if (!Buffer.isBuffer(ciphertext)) throw new Error('There is no ciphertext.');
  const data = requestHeaderAssociatedData(toRecordId(String(recordId)), String(name), origin);
  return world.customerApi.secretKeys.decrypt(ciphertext, data);
};
/** As an API of an earlier release, or anyone with its login, with the rights of the interface. */
const moveWithLogin = (callbackUrl: string) =>
  world.customerApi.store.query(
    {
      name: 'test-move',
      text: 'update webhook_subscription set callback_url = $1, url_number = url_number + 1 returning id',
    },
    [callbackUrl],
  );

const none = [null, null];
const sent = ['Authorization', 'SENT'];
const dropped = ['Authorization', 'DROPPED'];
const erased = { name: null, ciphertext: null, origin: null };

const changeAsOperator = (requestHeader: typeof header | null) =>
  changeSubscriptionSettings({ ...world.operator, secretKeys: world.customerApi.secretKeys }, id, { requestHeader });
/** What a request with an idempotency key leads to. */
const create = async (input: Partial<CreateWebhookSubscriptionInput> = {}, by = world.customer) => {
  const { userErrors, isRepeated } = await createWebhookSubscription(world.customerApi, by, {
    callbackUrl: url,
    eventTypes: [{ type: 'order.placed' }],
    requestHeader: header,
    idempotencyKey: 'key',
    ...input,
  });
  return isRepeated === true ? 'repeated' : (userErrors[0]?.code ?? 'created');
};

describe('a header', () => {
  test('is sent with the handshake of a new subscription, and encrypted for its origin and name only', async () => {
    const created = await createWebhookSubscription(world.customerApi, world.customer, {
      callbackUrl: 'https://RECEIVER.example:8443/a',
      eventTypes: [{ type: 'order.placed' }],
      requestHeader: { name: 'X-Key', value: secret },
    });
    expect(created.webhookSubscription).toMatchObject({ requestHeaderName: 'X-Key', headerState: 'SENT' });
    expect(verified()).toEqual([['https://receiver.example:8443/a', { name: 'X-Key', value: secret }]]);
    await world.sql(`update webhook_subscription set deleted_at = now() where request_header_name = 'X-Key'`);
    expect(await decryptFor('https://receiver.example')).toBe(header.value);
    for (const origin of ['https://receiver.example:8443', 'http://receiver.example', 'https://receiver.example.', ''])
      await expect(decryptFor(origin)).rejects.toThrow(SecretUnreadableError);
    await world.sql(`update webhook_subscription set request_header_name = 'X-Other' where deleted_at is null`);
    await expect(decryptFor('https://receiver.example')).rejects.toThrow(SecretUnreadableError);
  });

  test('cannot be decrypted as the secret of the subscription, nor the secret as the header', async () => {
    const [stored] = await world.sql('select id, secret_ciphertext as secret from webhook_subscription');
    const keys = world.customerApi.secretKeys;
    const recordId = toRecordId<'WebhookSubscription'>(String(stored?.['id']));
    const asHeader = requestHeaderAssociatedData(recordId, 'Authorization', 'https://receiver.example');
    const [ciphertext, bytes] = [(await row())['ciphertext'], stored?.['secret']];
    if (!Buffer.isBuffer(ciphertext) || !Buffer.isBuffer(bytes)) throw new Error('There is no ciphertext.');
    expect(() => keys.decrypt(ciphertext, secretAssociatedData(recordId))).toThrow(SecretUnreadableError);
    expect(() => keys.decrypt(bytes, asHeader)).toThrow(SecretUnreadableError);
  });

  test('is replaced and removed without a handshake, which notifies the worker and is recorded without its value', async () => {
    expect((await update({ requestHeader: { name: 'X-Key', value: 'other' } })).webhookSubscription).toMatchObject({
      requestHeaderName: 'X-Key',
      headerState: 'SENT',
    });
    expect(await decryptFor('https://receiver.example')).toBe('other');
    await update({ name: 'Orders' });
    expect(await state()).toEqual(['X-Key', 'SENT']);
    await update({ requestHeader: null });
    expect(await state()).toEqual(none);
    expect(await row()).toMatchObject(erased);
    expect(verified()).toEqual([]);
    expect(world.customerApi.notified).toBe(2);
    const details = await world.sql(
      `select details from audit_entry where action = 'webhook_subscription.update' order by at, number`,
    );
    expect(details.map((entry) => entry['details'])).toMatchObject([
      { requestHeaderName: 'X-Key' },
      { nameChanged: true },
      { requestHeaderName: null },
    ]);
  });

  test('stays with another path, and its handshake has it', async () => {
    await update({ callbackUrl: `${url}/other?a` });
    expect(verified()).toEqual([[`${url}/other?a`, header]]);
    expect(await state()).toEqual(sent);
  });

  test.each(['https://other.example/hook', 'https://receiver.example:8443/hook'])(
    'is dropped by a move to %s, whose handshake has none',
    async (callbackUrl) => {
      await update({ callbackUrl });
      expect(verified()).toEqual([[callbackUrl, undefined]]);
      expect(await state()).toEqual(dropped);
      expect(await row()).toMatchObject({ name: 'Authorization', ciphertext: null, origin: null });
      await update({ callbackUrl: url });
      expect(await state()).toEqual(dropped);
      await update({ callbackUrl: `${url}/path` });
      const entries = await world.sql(
        `select details->'requestHeaderDropped' as "isDropped" from audit_entry
         where action = 'webhook_subscription.update' order by at, number`,
      );
      expect(entries.map(({ isDropped }) => isDropped)).toEqual([true, null, null]);
      await update({ callbackUrl: url });
      await update({ requestHeader: header });
      expect(await state()).toEqual(sent);
    },
  );

  test('moves to another origin if it is passed with the URL', async () => {
    const requestHeader = { name: 'X-Key', value: 'of the other one' };
    await update({ callbackUrl: otherUrl, requestHeader });
    expect(verified()).toEqual([[otherUrl, requestHeader]]);
    expect(await state()).toEqual(['X-Key', 'SENT']);
    expect(await decryptFor('https://other.example')).toBe('of the other one');
  });

  test('is sent with the handshake that resumes the subscription', async () => {
    await world.sql(`update webhook_subscription set paused_reason = 'FAILING', paused_at = now()`);
    await resumeWebhookSubscription(world.customerApi, world.customer, { id });
    expect(verified()).toEqual([[url, header]]);
  });

  test('is not sent to an origin to which an earlier release or a login moves the URL, and is again after it moved back', async () => {
    await moveWithLogin(otherUrl);
    expect(await state()).toEqual(dropped);
    await world.sql(`update webhook_subscription set paused_reason = 'FAILING', paused_at = now()`);
    await resumeWebhookSubscription(world.customerApi, world.customer, { id });
    expect(verified()).toEqual([[otherUrl, undefined]]);
    await moveWithLogin(url);
    expect(await state()).toEqual(sent);
    expect(await decryptFor('https://receiver.example')).toBe(header.value);
  });

  test('is not sent either if a login also writes the origin', async () => {
    await moveWithLogin(otherUrl);
    await world.customerApi.store.query(
      {
        name: 'test-origin',
        text: `update webhook_subscription set request_header_origin = 'https://other.example', paused_reason = 'FAILING',
          paused_at = now() returning id`,
      },
      [],
    );
    await expect(resumeWebhookSubscription(world.customerApi, world.customer, { id })).rejects.toThrow(
      SecretUnreadableError,
    );
    expect(verified()).toEqual([]);
    // Its owner can replace it.
    await update({ requestHeader: null });
    expect(await row()).toMatchObject(erased);
  });

  test('is for the URL that its owner saw, if another update moves the subscription meanwhile', async () => {
    const { store } = world.customerApi;
    world.customerApi.store = interrupted(store, () => moveWithLogin(otherUrl));
    const { webhookSubscription } = await update({ requestHeader: { name: 'X-Key', value: secret } });
    world.customerApi.store = store;
    expect(webhookSubscription).toMatchObject({
      callbackUrl: otherUrl,
      requestHeaderName: 'X-Key',
      headerState: 'DROPPED',
    });
  });

  test('is for the URL that is passed with it, even if it is the present one and another update moves the subscription meanwhile', async () => {
    const { store } = world.customerApi;
    world.customerApi.store = interrupted(store, () => moveWithLogin(otherUrl));
    const requestHeader = { name: 'X-Key', value: secret };
    const { webhookSubscription } = await update({ callbackUrl: url, requestHeader });
    world.customerApi.store = store;
    expect(webhookSubscription).toMatchObject({ callbackUrl: url, requestHeaderName: 'X-Key', headerState: 'SENT' });
    expect(verified()).toEqual([[url, requestHeader]]);
    expect(await decryptFor('https://receiver.example')).toBe(secret);
  });

  test('is replaced without a handshake if the present URL is passed with it', async () => {
    const requestHeader = { name: 'X-Key', value: secret };
    expect((await update({ callbackUrl: url, requestHeader })).userErrors).toEqual([]);
    expect(verified()).toEqual([]);
    await moveWithLogin(otherUrl);
    const moved = await update({ callbackUrl: url, requestHeader });
    expect(moved.webhookSubscription).toMatchObject({ callbackUrl: url, headerState: 'SENT' });
    expect(verified()).toEqual([[url, requestHeader]]);
  });

  test.each([
    ['its owner', () => deleteWebhookSubscription(world.customerApi, world.customer, { id })],
    ['an operator', () => deleteSubscriptionOfAccount(world.operator, { subscriptionId: id })],
    [
      'an API of an earlier release',
      () => world.sql(`update webhook_subscription set deleted_at = now(), callback_url = '', secret_ciphertext = ''`),
    ],
  ])('is erased when %s deletes the subscription', async (_, remove) => {
    await remove();
    expect(await row()).toMatchObject(erased);
  });

  test('is changed by an operator, who does not see it', async () => {
    expect(await changeAsOperator({ name: 'X-Key', value: 'b' })).toMatchObject({ requestHeaderName: 'X-Key' });
    expect(await decryptFor('https://receiver.example')).toBe('b');
    expect(await changeAsOperator(null)).toMatchObject({ requestHeaderName: null, headerState: null });
    await expect(changeAsOperator({ name: 'Host', value: 'b' })).rejects.toMatchObject({ code: 'INVALID' });
  });
});

describe('invalid input', () => {
  test('is refused with the field, and quotes nothing', async () => {
    const { userErrors } = await update({ requestHeader: { name: secret, value: `${secret}\n` } });
    expect(userErrors.map(({ code, field }) => [code, field?.join('.')])).toEqual([
      ['REQUEST_HEADER_INVALID', 'input.requestHeader.name'],
      ['REQUEST_HEADER_INVALID', 'input.requestHeader.value'],
    ]);
    expect(JSON.stringify(userErrors)).not.toContain(secret);
    const created = await createWebhookSubscription(world.customerApi, world.customer, {
      callbackUrl: url,
      eventTypes: [{ type: 'order.placed' }],
      requestHeader: { name: 'Host', value: secret },
    });
    expect(created.userErrors).toMatchObject([{ code: 'REQUEST_HEADER_INVALID' }]);
    expect(verified()).toEqual([]);
    expect(await state()).toEqual(sent);
  });

  test('while a worker of an earlier release runs, no header can be set, but removed and moved', async () => {
    // As such a worker does, which does not know the column.
    await world.sql(`insert into webhook_worker (name, leased_until) values ('old', now() + interval '1 minute')`);
    const refused = [{ code: 'NOT_YET_AVAILABLE', field: ['input', 'requestHeader'] }];
    expect((await update({ requestHeader: { name: 'X-Key', value: 'a' } })).userErrors).toMatchObject(refused);
    await expect(world.subscribe({ requestHeader: header })).rejects.toThrow('NOT_YET_AVAILABLE');
    expect((await update({ callbackUrl: `${url}/moved` })).userErrors).toEqual([]);
    expect((await update({ requestHeader: null })).userErrors).toEqual([]);
    for (const end of ['alive = false', `alive = true, leased_until = now() - interval '1 second'`]) {
      await world.sql(`update webhook_worker set ${end}`);
      expect((await update({ requestHeader: header })).userErrors).toEqual([]);
    }
    await world.sql('delete from webhook_worker');
  });
});

describe('a repeated request', () => {
  const keys = new Map(['new', 'old'].map((keyId) => [keyId, randomBytes(32)]));
  const ringOf = (...keyIds: string[]) =>
    createSecretKeyRing(new Map(keyIds.map((keyId) => [keyId, keys.get(keyId) ?? Buffer.alloc(0)])));
  test('is the same with the same header only', async () => {
    expect(await create()).toBe('created');
    expect(await create()).toBe('repeated');
    for (const requestHeader of [null, { ...header, value: 'b' }, { ...header, name: 'X-Key' }])
      expect(await create({ requestHeader })).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  test('is the same after a rotation of the keys, as long as the ring has the key', async () => {
    world.customerApi.secretKeys = ringOf('old');
    expect(await create()).toBe('created');
    world.customerApi.secretKeys = ringOf('new', 'old');
    expect(await create()).toBe('repeated');
    expect(await create({ requestHeader: { ...header, value: 'b' } })).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(await create({ idempotencyKey: 'other' })).toBe('created');
    // A process that does not have the new key first, as while keys are changed.
    world.customerApi.secretKeys = ringOf('old', 'new');
    expect([await create(), await create({ idempotencyKey: 'other' })]).toEqual(['repeated', 'repeated']);
    world.customerApi.secretKeys = ringOf('new');
    expect([await create(), await create({ idempotencyKey: 'other' })]).toEqual(['IDEMPOTENCY_KEY_REUSED', 'repeated']);
  });

  test('has a hash from which the header cannot be guessed, and that differs by account', async () => {
    await create();
    await create({}, world.otherCustomer);
    const hashes = (await world.sql('select input_hash as hash from idempotency_key')).map(({ hash }) => String(hash));
    expect(new Set(hashes).size).toBe(2);
    const plain = { callbackUrl: url, eventTypes: [['order.placed', null]], webhookSecret: null };
    const guessed = [header, [header.name, header.value], { name: header.name, value: header.value }].map((guess) =>
      String(
        createHash('sha256')
          .update(JSON.stringify({ ...plain, requestHeader: guess }))
          .digest(),
      ),
    );
    expect(hashes.filter((hash) => guessed.includes(hash))).toEqual([]);
  });

  test('without a header has the hash of earlier releases', async () => {
    await create({ requestHeader: null });
    const plain = { callbackUrl: url, eventTypes: [['order.placed', null]], webhookSecret: null };
    expect(await world.sql('select input_hash from idempotency_key')).toEqual([
      { input_hash: createHash('sha256').update(JSON.stringify(plain)).digest() },
    ]);
  });
});

test('the value is in no row of the database', async () => {
  await createWebhookSubscription(world.customerApi, world.customer, {
    callbackUrl: url,
    eventTypes: [{ type: 'order.placed' }],
    requestHeader: header,
    idempotencyKey: 'key',
  });
  await update({ requestHeader: { ...header, name: 'X-Key' } });
  const tables = await world.sql(
    `select c.oid::regclass::text as name from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const forms = [secret, Buffer.from(secret).toString('hex'), Buffer.from(header.value).toString('base64')];
  const found: unknown[] = [];
  for (const { name } of tables)
    for (const { text } of await world.sql(`select t::text as text from ${String(name)} t`))
      if (forms.some((form) => String(text).includes(form))) found.push(name);
  expect(found).toEqual([]);
});

describe('rewrap', () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  const oldRing = createSecretKeyRing(new Map([['old', oldKey]]));
  const newRing = createSecretKeyRing(new Map([['new', newKey]]));
  const both = createSecretKeyRing(new Map(Object.entries({ new: newKey, old: oldKey })));
  const headers = 'webhook_subscription, request headers';

  beforeEach(async () => {
    await world.sql('delete from webhook_subscription_event_type');
    world.customerApi.secretKeys = oldRing;
    await update({ requestHeader: header });
    await world.sql(`update webhook_subscription set secret_ciphertext = ''`);
  });

  test('encrypts headers with the current key, for the same origin', async () => {
    const report = await rewrapSecrets({ ...world.operator, secretKeys: both });
    expect(report).toMatchObject({ unreadable: 0 });
    expect(report.before).toEqual([{ table: headers, keyId: 'old', secrets: 1 }]);
    expect(report.after).toEqual([{ table: headers, keyId: 'new', secrets: 1 }]);
    world.customerApi.secretKeys = newRing;
    expect(await decryptFor('https://receiver.example')).toBe(header.value);
  });

  test('encrypts headers that are not sent, which can be decrypted once the URL has moved back', async () => {
    await moveWithLogin(otherUrl);
    const report = await rewrapSecrets({ ...world.operator, secretKeys: both });
    expect(report).toMatchObject({ after: [{ table: headers, keyId: 'new', secrets: 1 }], unreadable: 0 });
    world.customerApi.secretKeys = newRing;
    expect(await state()).toEqual(dropped);
    await moveWithLogin(url);
    expect(await state()).toEqual(sent);
    expect(await decryptFor('https://receiver.example')).toBe(header.value);
  });

  test('counts headers that it cannot decrypt', async () => {
    const { id: recordId } = await row();
    await world.sql(`update webhook_subscription set request_header_origin = 'https://other.example'`);
    expect(await rewrapSecrets({ ...world.operator, secretKeys: both })).toMatchObject({
      after: [{ table: headers, keyId: 'old', secrets: 1 }],
      unreadable: 1,
      examples: [{ id: `gid://service/WebhookSubscription/${String(recordId)}, request header` }],
    });
  });

  test('does not overwrite a header that was replaced after it was read', async () => {
    const store = interrupted(world.operator.store, () => update({ requestHeader: { ...header, value: 'newer' } }));
    await rewrapSecrets({ ...world.operator, store, secretKeys: both });
    world.customerApi.secretKeys = newRing;
    expect(await decryptFor('https://receiver.example')).toBe('newer');
  });
});
