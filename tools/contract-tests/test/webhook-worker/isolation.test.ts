import { acknowledge, eventually, startReceiver } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished } from 'vitest';
import { test } from './fixtures.ts';

const insertEvents = `
  with event as (
    insert into webhook_event (account_id, interface, event_type, snapshot)
    select $1, 'customer', $2, $3 from generate_series(1, $4::int)
    returning id, account_id, interface
  )
  insert into webhook_event_queue (event_id, account_id, interface)
  select id, account_id, interface from event order by id`;

const placed = {
  order: { id: 'gid://service/Order/1', item: 'Tea', note: null },
  placedAt: '2026-11-20T08:00:00.000Z',
};
/** A snapshot of `api_key.created`. */
const created = {
  apiKey: { id: 'a', name: null, abilities: ['READ'], expiresAt: null },
  createdBy: null,
};

test('2,000 due deliveries of a slow receiver delay no other receiver', async ({ harness, receiver: slow }) => {
  const another = harness.accounts.otherCustomer;
  const quick = await forTest(startReceiver());
  onTestFinished(() => void (slow.onDelivery = acknowledge));
  let now = 0;
  let most = 0;
  slow.onDelivery = (response, request) => {
    most = Math.max(most, (now += 1));
    setTimeout(() => {
      now -= 1;
      acknowledge(response, request);
    }, 2_000);
  };
  await harness.subscribe(slow.url, ['order.placed']);
  await harness.subscribe(quick.url, ['api_key.created']);
  await harness.subscribe(quick.url, ['order.placed'], another);
  await harness.sql(insertEvents, [harness.accounts.customer.accountId, 'order.placed', placed, 2_000]);
  await harness.startWorker();
  await slow.waitFor(16);

  // At this rate the backlog takes four minutes.
  await harness.place(5, another);
  await quick.waitFor(5);
  // The event of another subscription of the same account is the last in the queue.
  await harness.sql(insertEvents, [harness.accounts.customer.accountId, 'api_key.created', created, 1]);
  await quick.waitFor(6);
  expect(most).toBe(16);
  expect(slow.deliveries.length).toBeLessThan(1_000);
});

test('an event that cannot be rendered is a failed delivery, and later events are delivered', async ({
  harness,
  receiver,
}) => {
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  const { accountId } = harness.accounts.customer;
  await harness.place(1);
  await harness.sql(insertEvents, [accountId, 'order.placed', {}, 1]);
  await harness.sql(insertEvents, [accountId, 'order.placed', { ...placed, order: { ...placed.order, id: 7 } }, 1]);
  const tooLarge = { ...placed, order: { ...placed.order, note: 'x'.repeat(256_000) } };
  await harness.sql(insertEvents, [accountId, 'order.placed', tooLarge, 1]);
  await harness.place(1);
  await harness.startWorker();
  await receiver.waitFor(2);
  const unrendered = {
    status: 'FAILED',
    subscriptionId: id,
    nextAttemptAt: null,
    attempts: [{ number: 1, responseStatus: null, error: 'RENDERING_FAILED' }],
  };
  await eventually(async () => {
    expect(await harness.deliveries()).toMatchObject([
      { status: 'DELIVERED', sequence: 5 },
      { ...unrendered, sequence: 4 },
      { ...unrendered, sequence: 3 },
      { ...unrendered, sequence: 2 },
      { status: 'DELIVERED', sequence: 1 },
    ]);
  });
  expect(await harness.metrics()).toContain('deedwire_alarms_total{alarm="rendering-failed"} 3');
});

test('an account whose deliveries the database refuses delays no other account', async ({ harness, receiver }) => {
  const another = harness.accounts.otherCustomer;
  await harness.subscribe(receiver.url, ['order.placed']);
  await harness.subscribe(receiver.url, ['order.placed'], another);
  await harness.sql(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`);
  await harness.sql(`
    create trigger refuse before insert on webhook_pending_delivery
    for each row when (new.account_id = ${harness.accounts.customer.accountId}) execute function refuse()`);
  await harness.place(1);
  await harness.place(3, another);
  await harness.startWorker();
  await receiver.waitFor(3);
  expect(receiver.deliveries).toHaveLength(3);
  await harness.sql('drop trigger refuse on webhook_pending_delivery');
  // The refused event is blocked until its subscriptions change.
  await harness.subscribe(receiver.url, ['api_key.created']);
  await receiver.waitFor(4);
});

test('an event of an unknown type or version stays queued with an alarm until it is known', async ({
  harness,
  receiver,
}) => {
  const { accountId } = harness.accounts.customer;
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  const subscriptionId = id.split('/').at(-1);
  await harness.subscribe(receiver.url, ['order.placed', 'api_key.created']);
  const pin = (version: string) =>
    harness.sql('update webhook_subscription_event_type set event_version = $1 where subscription_id = $2', [
      version,
      subscriptionId,
    ]);
  await pin('2099-01-01');
  await harness.sql(
    `insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
     values ($1, 'customer', 'order.vanished', '2026-11-01')`,
    [subscriptionId],
  );
  await harness.sql(insertEvents, [accountId, 'order.vanished', {}, 1]);
  await harness.place(1);
  await harness.sql(insertEvents, [accountId, 'api_key.created', created, 1]);
  await harness.startWorker();
  // The other subscription receives both events.
  await receiver.waitFor(2);
  expect(
    receiver.deliveries
      .map(({ headers }) => headers['x-service-webhook-event'])
      .toSorted((a, b) => String(a).localeCompare(String(b))),
  ).toEqual(['api_key.created', 'order.placed']);
  await eventually(async () => expect(await harness.metrics()).toContain('deedwire_events_blocked 2'));

  await pin('2026-11-01');
  await harness.sql(
    `insert into webhook_event_queue (account_id, interface, subscription_id) values ($1, 'customer', $2)`,
    [accountId, subscriptionId],
  );
  await receiver.waitFor(3);
  expect(receiver.deliveries[2]?.headers).toMatchObject({
    'x-service-webhook-event': 'order.placed',
    'x-service-webhook-subscription-id': id,
    'x-service-webhook-sequence': '1',
  });
  await eventually(async () => expect(await harness.metrics()).toContain('deedwire_events_blocked 1'));
});

test('a secret that cannot be decrypted delays the deliveries of its subscription only, and counts no attempt', async ({
  harness,
  receiver,
}) => {
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  await harness.subscribe(receiver.url, ['order.placed']);
  await harness.sql(`update webhook_subscription set secret_ciphertext = 'x' where id = $1`, [id.split('/').at(-1)]);
  await harness.place(1);
  await harness.startWorker();
  await eventually(async () => {
    const deliveries = await harness.deliveries();
    expect(deliveries.find(({ subscriptionId }) => subscriptionId === id)).toMatchObject({
      status: 'PENDING',
      attempts: [],
    });
    expect(deliveries.find(({ subscriptionId }) => subscriptionId !== id)).toMatchObject({ status: 'DELIVERED' });
  });
  expect(receiver.deliveries).toHaveLength(1);
});
