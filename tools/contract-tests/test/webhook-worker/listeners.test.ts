import {
  createWebhookListener,
  deleteWebhookListener,
  listAuditEntries,
  listWebhookListeners,
  sendTestWebhookEvent,
  type WebhookListener,
} from '@deedwire/actions';
import type { Harness } from '@deedwire/dev-environment/harness';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

async function listen(harness: Harness): Promise<WebhookListener> {
  const eventTypes = [{ type: 'order.placed' }, { type: 'webhook.test' }];
  const { customer } = harness.accounts;
  const { webhookListener, userErrors } = await createWebhookListener(harness.customerApi, customer, { eventTypes });
  if (webhookListener === null) throw new Error(JSON.stringify(userErrors));
  return webhookListener;
}

const listed = ({ customerApi, accounts }: Harness) => listWebhookListeners(customerApi, accounts.customer);

/** How many rows each table has about a listener. */
async function rowsOf(harness: Harness, { id }: WebhookListener): Promise<Record<string, unknown>> {
  const counts = ['webhook_delivery', 'webhook_pending_delivery', 'webhook_failed_delivery', 'webhook_attempt'].map(
    (table) => `(select count(*)::int from ${table} where subscription_id = $1) as ${table}`,
  );
  const [row = {}] = await harness.sql(`select ${counts.join(', ')}`, [id.split('/').at(-1)]);
  return row;
}

test('numbers the events of a listener beside a subscription, and sends it none, even after a change of workers', async ({
  harness,
  receiver,
}) => {
  const worker = await harness.startWorker();
  const listener = await listen(harness);
  await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(3);
  const input = { subscriptionId: listener.id };
  const { webhookEventId } = await sendTestWebhookEvent(harness.customerApi, harness.accounts.customer, input);
  expect(webhookEventId).not.toBeNull();
  await receiver.waitFor(3);
  await eventually(async () => expect(await listed(harness)).toMatchObject([{ lastSequence: 4 }]));

  await harness.startWorker();
  await harness.stopWorker(worker);
  await harness.place(1);
  await receiver.waitFor(4);
  expect(await listed(harness)).toMatchObject([{ lastSequence: 5 }]);
  expect(await rowsOf(harness, listener)).toEqual({
    webhook_delivery: 5,
    webhook_pending_delivery: 0,
    webhook_failed_delivery: 0,
    webhook_attempt: 0,
  });
  expect(await harness.deliveries()).toHaveLength(4);
});

test('deletes a listener 24 hours after its last read, and numbers no event for it afterwards', async ({
  harness,
  receiver,
}) => {
  const [unread, read] = [await listen(harness), await listen(harness)];
  await harness.subscribe(receiver.url, ['order.placed']);
  await harness.sql(
    `update webhook_subscription
     set last_read_at = now() - case id::text when $1 then interval '26 hours' else interval '24 hours' end
     where kind = 'LISTENER'`,
    [unread.id.split('/').at(-1)],
  );
  await harness.startWorker();
  await eventually(async () => expect((await listed(harness)).map(({ id }) => id)).toEqual([read.id]));
  await harness.place(1);
  await receiver.waitFor(1);
  await eventually(async () => expect(await listed(harness)).toMatchObject([{ lastSequence: 1 }]));
  expect(await rowsOf(harness, unread)).toMatchObject({ webhook_delivery: 0, webhook_pending_delivery: 0 });
  await eventually(async () => expect(await harness.sql('select from webhook_deleted_backlog')).toEqual([]));
  const pins = 'select distinct subscription_id::text as id from webhook_subscription_event_type where event_type = $1';
  expect(await harness.sql(pins, ['webhook.test'])).toEqual([{ id: read.id.split('/').at(-1) }]);
  const [entry] = (await listAuditEntries(harness.operator, { limit: 10 })).filter(
    ({ action }) => action === 'webhook_listener.expire',
  );
  expect(entry).toMatchObject({
    subject: unread.id,
    accountId: harness.accounts.customer.id,
    actor: null,
    details: { lastReadAt: expect.any(String) },
  });
});

test('what a worker of the previous release has left pending for a listener is never sent, and goes with the listener', async ({
  harness,
  receiver,
}) => {
  const listener = await listen(harness);
  const number = listener.id.split('/').at(-1);
  await harness.sql(
    `with sequence as (update webhook_subscription_sequence set last_sequence = 1 where subscription_id = $1),
     delivery as (
       insert into webhook_delivery
         (subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
       select id, account_id, interface, new_record_id(), 'order.placed', '2026-11-01', now(), 1
       from webhook_subscription where id = $1
       returning *
     ), payload as (
       insert into webhook_payload (event_id, event_version, interface, body)
       select event_id, event_version, interface, '{}' from delivery
     )
     insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type,
       event_version, occurred_at, sequence, due_at, body_bytes)
     select subscription_id, id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence, now(), 2
     from delivery`,
    [number],
  );
  await harness.startWorker();
  await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(2);
  await receiver.waitFor(2);
  await eventually(async () => expect(await listed(harness)).toMatchObject([{ lastSequence: 3 }]));
  expect(await rowsOf(harness, listener)).toMatchObject({ webhook_pending_delivery: 1, webhook_attempt: 0 });
  await deleteWebhookListener(harness.customerApi, harness.accounts.customer, { id: listener.id });
  await eventually(async () => expect(await rowsOf(harness, listener)).toMatchObject({ webhook_pending_delivery: 0 }));
  expect(receiver.deliveries).toHaveLength(2);
});
