import { toRecordId } from '@deedwire/core';
import { createStore, type Store } from '@deedwire/store';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { deleteUnreadListeners } from '@deedwire/webhooks';
import { type ListenerId, subscriptionIdOf } from '@deedwire/webhooks/tables';
import {
  selectLane,
  selectLanesOfShard,
  selectTargets,
  shardOf,
  pauseRetiredSubscriptions,
  createServiceDatabase,
  samplePin,
  seedAccount,
  type SeededAccount,
  seedWorker,
} from '@deedwire/webhooks/test-support';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  insertListener,
  lockListener,
  noteListenerRead,
  selectListener,
  selectListeners,
} from '../../../src/webhooks/subscriptions/listeners.ts';
import { rotateSecret } from '../../../src/webhooks/subscriptions/secrets.ts';
import {
  insertEventTypePins,
  countSubscriptions,
  pauseSubscriptionByOwner,
  resumeSubscription,
  updateSubscriptionUrl,
} from '../../../src/webhooks/subscriptions/subscriptions.ts';

let account: SeededAccount;

const open = (databaseUrl: string) => createStore({ databaseUrl, applicationName: 'test' });

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const store = await forFile(open(database.databaseUrl));
const worker = await forFile(open(await database.urlFor('webhook_worker')));
const supplierApi = await forFile(open(await database.urlFor('supplier_api')));
const customerApi = await forFile(open(await database.urlFor('customer_api')));
const operator = await forFile(open(await database.urlFor('operator')));
const workerId = await seedWorker(store);
const firstPage = { afterId: null, limit: 10 };

beforeEach(async () => {
  await superuser.run('update webhook_subscription set deleted_at = now() where deleted_at is null');
  await superuser.run('delete from webhook_event_queue');
  account = await seedAccount(store);
});

async function listen(by: Store = customerApi, owner = account): Promise<ListenerId> {
  const { id: accountId, interfaceName } = owner;
  return by.transaction(async (transaction) => {
    const id = await insertListener(transaction, { accountId, interfaceName });
    await insertEventTypePins(transaction, { id: subscriptionIdOf(id), interfaceName }, [samplePin]);
    return id;
  });
}

const set = (id: ListenerId, assignments: string) =>
  superuser.run(`update webhook_subscription set ${assignments} where id = $1`, [id]);
const read = async (id: ListenerId) =>
  (await superuser.run('select * from webhook_subscription where id = $1', [id]))[0] ?? {};
const queuedChanges = async () =>
  (await superuser.run('select subscription_id::text as id from webhook_event_queue order by position')).map(
    ({ id }) => id,
  );
const secondsSince = (time: unknown): number => (time instanceof Date ? (Date.now() - time.getTime()) / 1000 : NaN);

test('a listener is a paused subscription without a URL and a secret, numbered from 1', async () => {
  const id = await listen();
  expect(await selectListener(customerApi, account.id, id)).toEqual({
    id,
    accountId: account.id,
    interfaceName: 'customer',
    eventTypes: [samplePin],
    createdAt: expect.any(Date),
    lastReadAt: expect.any(Date),
    lastSequence: '0',
  });
  const row = await read(id);
  expect(row).toMatchObject({ kind: 'LISTENER', callback_url: '', paused_reason: 'OWNER', deleted_at: null });
  expect(row['secret_ciphertext']).toEqual(Buffer.alloc(0));
  expect(row['last_read_at']).toEqual(row['created_at']);
  expect(await queuedChanges()).toEqual([id]);
});

const resume = (id: ListenerId, byOwner: boolean) =>
  customerApi.transaction((transaction) => resumeSubscription(transaction, subscriptionIdOf(id), { byOwner }));
const rotate = (id: ListenerId, overlapSeconds: number) =>
  customerApi.transaction((transaction) =>
    rotateSecret(transaction, subscriptionIdOf(id), { secretCiphertext: Buffer.from('secret'), overlapSeconds }),
  );

// They have the same statements.
describe('apps of the previous release, which do not know the kind', () => {
  const attempts: [name: string, run: (id: ListenerId) => Promise<unknown>][] = [
    ['resume', (id) => resume(id, true)],
    [
      'set a URL',
      (id) => customerApi.transaction((t) => updateSubscriptionUrl(t, subscriptionIdOf(id), 'https://a.test')),
    ],
    ['set a secret', (id) => rotate(id, 0)],
    ['begin a rotation', (id) => rotate(id, 60)],
  ];

  test.each(attempts)('cannot %s', async (_, run) => {
    const id = await listen();
    const before = await read(id);
    await expect(run(id)).rejects.toThrow('webhook_listener_is_never_sent');
    expect(await read(id)).toEqual(before);
  });

  test('pause it without an effect, and cannot end VERSION_RETIRED so that it becomes active', async () => {
    const id = await listen();
    expect(
      await customerApi.transaction((transaction) =>
        pauseSubscriptionByOwner(transaction, subscriptionIdOf(id), 'OWNER'),
      ),
    ).toBe(false);
    await worker.transaction((transaction) => pauseRetiredSubscriptions(transaction, workerId, [samplePin], 10));
    expect(await read(id)).toMatchObject({ paused_reason: 'VERSION_RETIRED' });
    // As `updateWebhookSubscription` does with another version.
    await resume(id, false);
    expect(await read(id)).toMatchObject({ paused_reason: 'OWNER' });
  });

  test('get no target and no lane of it, including with a delivery that their fan-out left pending', async () => {
    const id = await listen();
    const subscriptionId = subscriptionIdOf(id);
    await superuser.run(
      `insert into webhook_pending_delivery
         (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
          due_at, body_bytes)
       values ($1, 1, $2, 'customer', 1, 'order.placed', '2026-11-01', now(), 1, now(), 0)`,
      [id, account.id],
    );
    expect(await selectTargets(worker, workerId, [subscriptionId])).toEqual([]);
    expect(await selectLane(worker, subscriptionId)).toMatchObject({ isActive: false, hasPending: true });
    const { lanes } = await selectLanesOfShard(worker, shardOf(account.id), null, 1_000);
    expect(lanes.map((lane) => lane.subscriptionId)).not.toContain(subscriptionId);
  });
});

test('a subscription never becomes a listener without the guarantees of one', async () => {
  for (const values of [
    `'LISTENER', 'https://a.test', '', 'OWNER', now(), now()`,
    `'LISTENER', '', 'secret', 'OWNER', now(), now()`,
    `'LISTENER', '', '', null, null, now()`,
    `'LISTENER', '', '', 'OWNER', now(), null`,
    `'PUSH', 'https://a.test', 'secret', null, null, now()`,
  ]) {
    await expect(
      superuser.run(
        `insert into webhook_subscription
           (account_id, interface, kind, callback_url, secret_ciphertext, paused_reason, paused_at, last_read_at, queue_position)
         values ($1, 'customer', ${values}, 1)`,
        [account.id],
      ),
    ).rejects.toThrow('webhook_listener_is_never_sent');
  }
});

describe('reads', () => {
  test('are noted at most once an hour', async () => {
    const id = await listen();
    const note = () => noteListenerRead(customerApi, subscriptionIdOf(id));
    await set(id, `last_read_at = now() - interval '59 minutes'`);
    const { last_read_at: before } = await read(id);
    await note();
    expect(await read(id)).toMatchObject({ last_read_at: before });
    await set(id, `last_read_at = now() - interval '61 minutes'`);
    await note();
    expect(secondsSince((await read(id))['last_read_at'])).toBeLessThan(1800);
  });

  test('of a deleted listener, a subscription and a listener of the other interface are not noted', async () => {
    const deleted = await listen();
    await set(deleted, `last_read_at = now() - interval '2 hours', deleted_at = now()`);
    const id = await listen();
    await set(id, `last_read_at = now() - interval '2 hours'`);
    const before = [await read(deleted), await read(id)];
    await noteListenerRead(customerApi, subscriptionIdOf(deleted));
    await noteListenerRead(supplierApi, subscriptionIdOf(id));
    await noteListenerRead(customerApi, toRecordId('1'));
    expect([await read(deleted), await read(id)]).toEqual(before);
  });
});

const deleteUnread = async (batch = 10) => {
  const notified: string[] = [];
  const count = await worker.transaction((transaction) =>
    deleteUnreadListeners({ ...transaction, notifyAfterCommit: (payload) => notified.push(String(payload)) }, batch),
  );
  return { count, notified };
};

describe('the worker deletes a listener', () => {
  test('24 hours after its last read, of which the noted one is at most an hour before', async () => {
    const [fresh, unread] = [await listen(), await listen()];
    await set(fresh, `last_read_at = now() - interval '24 hours 59 minutes'`);
    await set(unread, `last_read_at = now() - interval '25 hours 1 minute'`);
    await superuser.run(
      `insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until, payload, record_id)
       values ($1, 'customer', 'createWebhookListener', 'k', 'hash', gen_random_uuid(), now(), '{}', $2)`,
      [account.id, unread],
    );
    expect(await deleteUnread()).toEqual({ count: 1, notified: [String(shardOf(account.id))] });
    expect((await selectListeners(customerApi, account.id, firstPage)).map(({ id }) => id)).toEqual([fresh]);
    expect(
      await superuser.run('select payload, input_hash, record_deleted from idempotency_key where account_id = $1', [
        account.id,
      ]),
    ).toEqual([{ payload: null, input_hash: Buffer.alloc(0), record_deleted: true }]);
    expect(await deleteUnread()).toEqual({ count: 0, notified: [] });
  });

  test('never a subscription, and in batches', async () => {
    const listeners = [await listen(), await listen(), await listen()];
    for (const id of listeners) await set(id, `last_read_at = now() - interval '2 days'`);
    const counts = [];
    for (let turn = 0; turn < 3; turn += 1) counts.push((await deleteUnread(2)).count);
    expect(counts).toEqual([2, 1, 0]);
    expect(await selectListeners(customerApi, account.id, firstPage)).toEqual([]);
  });

  test('not while a read of it is being noted', async () => {
    const id = await listen();
    await set(id, `last_read_at = now() - interval '2 days'`);
    await customerApi.transaction(async (transaction) => {
      await noteListenerRead(transaction, subscriptionIdOf(id));
      expect(await deleteUnread()).toEqual({ count: 0, notified: [] });
    });
    expect(await deleteUnread()).toEqual({ count: 0, notified: [] });
    expect(await selectListener(customerApi, account.id, id)).not.toBeNull();
  });
});

test('the login of an interface neither sees nor changes the listeners of the other', async () => {
  const supplier = await seedAccount(store, 'supplier');
  const id = await listen(supplierApi, supplier);
  // As a bug would, with the id of the account.
  expect(await selectListeners(customerApi, supplier.id, firstPage)).toEqual([]);
  expect(await selectListener(customerApi, supplier.id, id)).toBeNull();
  expect(await customerApi.transaction((transaction) => lockListener(transaction, supplier.id, id))).toBe(false);
  await expect(listen(customerApi, supplier)).rejects.toThrow('row-level security');
  await expect(listen(worker, supplier)).rejects.toThrow('permission denied');
  await expect(listen(operator, supplier)).rejects.toThrow('permission denied');
  expect(await countSubscriptions(supplierApi, supplier.id, 'LISTENER')).toBe(1);
});
