import { beforeEach, describe, expect, test } from 'vitest';
import { findWebhookDelivery, orRefuse, retryWebhookDelivery } from '../src/index.ts';
import { expectRefused } from './support/operator.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

let subscriptionId: string;
beforeEach(async () => {
  ({ id: subscriptionId } = await world.subscribe());
  world.customerApi.notified = 0;
});

/** Inserts a delivery that failed once, as the worker does. */
async function fail(error: string | null = null): Promise<string> {
  const rows = await world.sql(
    `with delivery as (
       insert into webhook_delivery
         (subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
       select id, account_id, interface, 1, 'order.placed', '2026-11-01', now(), 1 from webhook_subscription where id = $1
       returning *
     ), attempt as (
       insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status, error)
       select id, 1, subscription_id, interface, now(), 1, case when $2::text is null then 500 end, $2 from delivery
     ), failed as (
       insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
       select subscription_id, id, interface from delivery
     )
     update webhook_subscription_sequence set last_sequence = 1 where subscription_id = $1
     returning (select id from delivery) as id`,
    [subscriptionId.split('/').at(-1), error],
  );
  return `gid://service/WebhookDelivery/${String(rows[0]?.['id'])}`;
}

const retry = (id: string, caller = world.customer) => retryWebhookDelivery(world.customerApi, caller, { id });
const codes = async (id: string) => (await retry(id)).userErrors.map(({ code }) => code);
const requests = () =>
  world.sql('select delivery_id::text as id, ended_at as "endedAt" from webhook_replay order by id');

describe('retryWebhookDelivery', () => {
  test('asks the worker once, shows the delivery as pending, and records who asked', async () => {
    const id = await fail();
    expect(await findWebhookDelivery(world.customerApi, world.customer, id)).toMatchObject({ status: 'FAILED' });
    const result = await retry(id);
    expect(result).toMatchObject({ webhookDelivery: { id, status: 'PENDING', nextAttemptAt: expect.any(Date) } });
    expect(await retry(id)).toMatchObject({ webhookDelivery: { status: 'PENDING' }, userErrors: [] });
    expect(await findWebhookDelivery(world.customerApi, world.customer, id)).toMatchObject({ status: 'PENDING' });
    expect(await requests()).toEqual([{ id: id.split('/').at(-1), endedAt: null }]);
    expect(world.customerApi.notified).toBe(1);
    const entries = await world.sql(
      `select actor, action, subject, details from audit_entry where action like 'webhook_delivery.%'`,
    );
    expect(entries).toEqual([
      { actor: 'Customer-client', action: 'webhook_delivery.retry', subject: id, details: { status: 'FAILED' } },
    ]);
  });

  test('forgets the claims of workers with which the delivery failed', async () => {
    const id = await fail();
    await world.sql('update webhook_failed_delivery set claimed_at = array_fill(now(), array[5])');
    const claims = async () => (await findWebhookDelivery(world.customerApi, world.customer, id))?.claimedAt;
    expect(await claims()).toHaveLength(5);
    await retry(id);
    expect(await claims()).toBeNull();
  });

  test('rejects a delivery without a payload, and one that has expired', async () => {
    expect(await codes(await fail('RENDERING_FAILED'))).toEqual(['PAYLOAD_UNAVAILABLE']);
    const id = await fail();
    await world.sql('update webhook_retention set expired_before = $1', [BigInt(id.split('/').at(-1) ?? '') + 1n]);
    try {
      expect(await codes(id)).toEqual(['DELIVERY_EXPIRED']);
      await world.sql('delete from webhook_failed_delivery');
      expect(await codes(id)).toEqual(['DELIVERY_EXPIRED']);
    } finally {
      await world.sql('update webhook_retention set expired_before = 0');
    }
    expect(await requests()).toEqual([]);
    expect(world.customerApi.notified).toBe(0);
  });

  test('allows 60 within a minute, even at the same time', async () => {
    const id = await fail();
    await world.sql(
      `insert into webhook_replay (id, account_id, interface, subscription_id, delivery_id, only_failed, per_second, from_id,
         until_id, last_id, ended_at, created_at)
       select number, account_id, interface, id, number, false, 1, 0, 1, 0, now(),
         now() - case when number > 12 then interval '30 s' else interval '61 s' end
       from webhook_subscription, generate_series(1, 70) number where id = $1`,
      [subscriptionId.split('/').at(-1)],
    );
    const others = await Promise.all([fail(), fail(), fail(), fail()]);
    expect(await codes(id)).toEqual([]);
    const results = await Promise.all(others.map(codes));
    expect(results.filter((result) => result.length === 0)).toHaveLength(1);
    expect(results.filter(([code]) => code === 'RETRY_RATE_LIMITED')).toHaveLength(3);
  });
});

const retryFor = async (deliveryId: string) =>
  orRefuse(await retryWebhookDelivery(world.operator, world.operator.operator, { id: deliveryId })).webhookDelivery;

test('an operator cannot retry what cannot be sent', async () => {
  await expectRefused(retryFor('nope'), 'NOT_FOUND');
  await expectRefused(retryFor('gid://service/WebhookDelivery/9'), 'NOT_FOUND');
  const deliveryId = await fail('RENDERING_FAILED');
  await expectRefused(retryFor(deliveryId), 'CONFLICT');
  expect(await requests()).toEqual([]);
});
