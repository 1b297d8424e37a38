import type { SubscriptionId } from '@deedwire/webhooks/tables';
import { beforeEach, expect, test } from 'vitest';
import {
  orRefuse,
  pauseWebhookSubscription,
  resumeWebhookSubscription,
  sendPendingWebhookDeliveries,
} from '../src/index.ts';
import { markSendPending } from '../src/webhooks/subscriptions/subscriptions.ts';
import { expectRefused } from './support/operator.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

let id: string;
beforeEach(async () => {
  ({ id } = await world.subscribe());
  await forgetChanges();
});

async function forgetChanges(): Promise<void> {
  world.customerApi.notified = 0;
  await world.sql('delete from webhook_event_queue');
  await world.sql('truncate audit_entry');
}

const send = (subscriptionId = id, caller = world.customer) =>
  sendPendingWebhookDeliveries(world.customerApi, caller, { subscriptionId });
const codes = async (subscriptionId: string) => (await send(subscriptionId)).userErrors.map(({ code }) => code);
const marks = async () => {
  const [row] = await world.sql(
    `select hastened_at as "hastenedAt", send_pending_at as "sendPendingAt" from webhook_subscription where id = $1`,
    [id.split('/').at(-1)],
  );
  return row;
};
const changes = async () =>
  (await world.sql('select from webhook_event_queue where subscription_id is not null')).length;
const forSupport = async (subscriptionId: string) =>
  orRefuse(await sendPendingWebhookDeliveries(world.operator, world.operator.operator, { subscriptionId }));

test('marks the subscription, tells its worker, and records who asked', async () => {
  expect(await marks()).toEqual({ hastenedAt: null, sendPendingAt: null });
  expect(await send()).toMatchObject({ webhookSubscription: { id, status: 'ACTIVE' }, userErrors: [] });
  expect(await marks()).toEqual({ hastenedAt: null, sendPendingAt: expect.any(Date) });
  expect(await changes()).toBe(1);
  expect(world.customerApi.notified).toBe(1);
  expect(await world.sql('select actor, action, subject, details from audit_entry')).toEqual([
    { actor: 'Customer-client', action: 'webhook_subscription.send-pending', subject: id, details: {} },
  ]);
});

test('is accepted once a minute, including of two requests at the same time and of an operator', async () => {
  const results = await Promise.all([codes(id), codes(id), codes(id)]);
  expect(results.filter((result) => result.length === 0)).toHaveLength(1);
  expect(results.filter(([code]) => code === 'RATE_LIMITED')).toHaveLength(2);
  expect((await send()).userErrors[0]?.field).toEqual(['input', 'subscriptionId']);
  await expectRefused(forSupport(id), 'LIMIT_REACHED');
  await expectRefused(forSupport('nope'), 'NOT_FOUND');
  expect(await changes()).toBe(1);
  await world.sql(`update webhook_subscription set send_pending_at = now() - interval '61 s'`);
  expect(await forSupport(id)).toMatchObject({ webhookSubscription: { id } });
  const entries = await world.sql('select actor_type as type from audit_entry order by number');
  expect(entries).toEqual([{ type: 'CLIENT' }, { type: 'OPERATOR' }]);
});

test('is not accepted by a transaction that began before another one was accepted', async () => {
  const number = id.split('/').at(-1) as SubscriptionId;
  const later = await world.customerApi.store.transaction(async (transaction) => {
    await transaction.query({ name: '', text: 'select' }, []);
    expect(await codes(id)).toEqual([]);
    return markSendPending(transaction, number);
  });
  expect(later).toBe(false);
});

test('is accepted after the clock of the database was set back', async () => {
  await world.sql(`update webhook_subscription set send_pending_at = now() + interval '1 h'`);
  expect(await codes(id)).toEqual([]);
});

test('marks a paused subscription, for when it is resumed', async () => {
  await pauseWebhookSubscription(world.customerApi, world.customer, { id });
  expect(await send()).toMatchObject({ webhookSubscription: { status: 'PAUSED' }, userErrors: [] });
});

test('resuming hastens pending deliveries, at most once an hour', async () => {
  const pauseAndResume = async () => {
    await pauseWebhookSubscription(world.customerApi, world.customer, { id });
    await resumeWebhookSubscription(world.customerApi, world.customer, { id });
    return marks();
  };
  const first = await pauseAndResume();
  expect(first).toEqual({ hastenedAt: expect.any(Date), sendPendingAt: null });
  expect(await pauseAndResume()).toEqual(first);
  await world.sql(`update webhook_subscription set hastened_at = now() - interval '61 min'`);
  const anHourAgo = await marks();
  expect(await pauseAndResume()).not.toEqual(anHourAgo);
});
