import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createStore, type Transaction } from '@deedwire/store';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { shardOf } from '../../src/kernel/ids.ts';
import { appendSubscriptionChange, insertEvent } from '../../src/outbox/outbox.ts';
import { createServiceDatabase, seedAccount, seedSubscription } from '../support/seed.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const store = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const api = await forFile(createStore({ databaseUrl: await database.urlFor('customer_api'), applicationName: 'test' }));
const account = await seedAccount(store);

/** Runs `work` in a transaction of the customer API, and returns the payloads of its notifications. */
async function notificationsOf(work: (transaction: Transaction) => Promise<unknown>): Promise<unknown[]> {
  const payloads: unknown[] = [];
  await api.transaction((transaction) =>
    work({ ...transaction, notifyAfterCommit: (payload) => payloads.push(payload) }),
  );
  return payloads;
}

const queue = () =>
  superuser.run(
    `select q.account_id, q.shard, q.interface, q.subscription_id, e.event_type, e.snapshot, e.request_id, e.record_id
     from webhook_event_queue q
     left join webhook_event e on e.id = q.event_id and e.account_id = q.account_id
     order by q.position`,
  );

test('queues events and changes of subscriptions in their order, and notifies the owner of the shard', async () => {
  const { id: accountId, interfaceName } = account;
  const event = { accountId, interfaceName, type: 'order.placed', requestId: 'request', recordId: '4711' };
  const shard = shardOf(accountId);
  const ofAccount = { account_id: accountId, shard, interface: interfaceName };

  const notified = await notificationsOf(async (transaction) => {
    await insertEvent(transaction, { ...event, snapshot: { number: 1 } });
    const subscriptionId = await seedSubscription(transaction, account);
    await insertEvent(transaction, { ...event, snapshot: { number: 2 }, requestId: null, recordId: null });
    await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId });
  });
  expect(new Set(notified)).toEqual(new Set([String(shard)]));
  const [subscription] = await superuser.run('select id, queue_position from webhook_subscription');
  const change = {
    ...ofAccount,
    subscription_id: subscription?.['id'],
    event_type: null,
    snapshot: null,
    request_id: null,
    record_id: null,
  };
  const queuedEvent = { ...ofAccount, subscription_id: null, event_type: 'order.placed' };
  expect(await queue()).toEqual([
    { ...queuedEvent, snapshot: { number: 1 }, request_id: 'request', record_id: '4711' },
    change,
    { ...queuedEvent, snapshot: { number: 2 }, request_id: null, record_id: null },
    change,
  ]);
  // The subscription receives the second event only.
  const positions = await superuser.run(
    'select position > $1::bigint as received from webhook_event_queue where event_id is not null order by position',
    [subscription?.['queue_position']],
  );
  expect(positions).toEqual([{ received: false }, { received: true }]);
});

test('an event needs a transaction, which notifies the worker', async () => {
  const { id: accountId, interfaceName } = account;
  const event = { accountId, interfaceName, type: 'order.placed', recordId: null, snapshot: {}, requestId: null };
  // @ts-expect-error -- a store is not a transaction
  await expect(insertEvent(store, event)).rejects.toThrow('notifyAfterCommit is not a function');
});

test('only statements of the outbox insert events', () => {
  const source = join(import.meta.dirname, '../../src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const inserting = files.filter((file) =>
    /insert into webhook_event[\s(]/.test(readFileSync(join(source, file), 'utf8')),
  );
  expect(inserting).toEqual(['outbox/outbox.ts']);
});

test.each([
  ['snapshot', { snapshot: { text: 'x'.repeat(500_000) } }],
  ['snapshot of empty lists', { snapshot: { lists: Array.from({ length: 170_000 }, () => []) } }],
  ['event type', { type: 'x'.repeat(101) }],
  ['request id', { requestId: 'x'.repeat(201) }],
])('a login of an interface cannot store an event whose %s would fill the memory of a worker', async (_, change) => {
  const { id: accountId, interfaceName } = account;
  const stored = { type: 'order.placed', recordId: null, snapshot: {}, requestId: null, ...change };
  const event = { accountId, interfaceName, ...stored };
  await expect(notificationsOf((transaction) => insertEvent(transaction, event))).rejects.toThrow(
    'violates check constraint "webhook_event_is_readable"',
  );
});
