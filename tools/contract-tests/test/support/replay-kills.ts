import { startTestSystem } from '@deedwire/dev-environment/harness';
import { connect, eventually, startReceiver } from '@deedwire/testing';
import { parse } from 'graphql';
import { expect } from 'vitest';
import { endsWithin } from './faults/ends-within.ts';

const places = ['replay-before-write', 'replay-after-write', 'replay-after-offer'] as const;

/** Of the feeder: replayed deliveries that wait, are in flight or unsettled. */
const outstandingMax = 8;

/** Guards against hanging only. */
const completedWithinMs = 120_000;

// A worker that does not own the shard yet arrives at the place later.
const arrivesWithinMs = 20_000;

/** As fan-out and the worker do: deliveries of a subscription, each of which failed once. */
const seedFailures = `
  with delivery as (
    insert into webhook_delivery
      (account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
    select account_id, id, interface, new_record_id(), 'referral.converted', '2026-11-01', now(), n
    from webhook_subscription, generate_series(1, $1::int) n
    returning *
  ), payload as (
    insert into webhook_payload (event_id, event_version, interface, body)
    select event_id, event_version, interface, '{}' from delivery
  ), attempt as (
    insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
    select id, 1, subscription_id, interface, now(), 1, 500 from delivery
  ), sequence as (
    update webhook_subscription_sequence set last_sequence = $1::int
  )
  insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
  select subscription_id, id, interface from delivery`;

/**
 * Replays failed deliveries while the worker is killed at the places of the feeder, one after the other. Everything is sent, a
 * kill repeats at most 8 deliveries, and the replay counts each delivery once.
 */
export async function expectReplayOfKilledWorkers(kills: number, deliveries: number): Promise<void> {
  const t = await startTestSystem({ appEnv: { 'webhook-worker': { WORKER_LEASE_MS: '1000' } } });
  const receiver = await startReceiver();
  const database = await connect(t.database.databaseUrl);
  try {
    const request = <Data extends object>(text: string, input: object): Promise<Data> =>
      t.partner.request<Data, object>(parse(text), { input });
    await request(
      'mutation ($input: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $input) { userErrors { code } } }',
      { callbackUrl: receiver.url, eventTypes: [{ type: 'referral.converted' }] },
    );
    await database.run(seedFailures, [deliveries]);
    const [subscription] = await database.run('select id::text from webhook_subscription');
    const worker = t.system.apps['webhook-worker'];
    worker.kill('SIGKILL');
    await worker.ended;
    const { replayWebhookEvents } = await request<{ replayWebhookEvents: { userErrors: object[] } }>(
      'mutation ($input: ReplayWebhookEventsInput!) { replayWebhookEvents(input: $input) { userErrors { code } } }',
      { subscriptionId: `gid://service/WebhookSubscription/${String(subscription?.['id'])}`, maxPerSecond: 500 },
    );
    expect(replayWebhookEvents.userErrors).toEqual([]);

    let killed = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const env = { NODE_ENV: 'test', DEEDWIRE_FAILPOINT: `${places[kill % places.length]}:${kill % 5}` };
      const started = await t.system.add('webhook-worker', env).catch((error: unknown) => {
        // It can end before it was seen ready.
        if (error instanceof Error && error.message.includes('ended (SIGKILL)')) return null;
        throw error;
      });
      if (started === null || (await endsWithin(started, arrivesWithinMs))) killed += 1;
      else started.kill('SIGKILL');
      await started?.ended;
    }
    expect(killed).toBe(kills);
    const [open] = await database.run('select queued from webhook_replay where ended_at is null');
    // Otherwise the last kills did not interrupt the replay.
    expect(Number(open?.['queued'])).toBeGreaterThan(0);

    await t.system.restart('webhook-worker');
    const idle = `select queued, skipped, (select count(*)::int from webhook_pending_delivery) as pending from webhook_replay
      where ended_at is not null`;
    await eventually(
      async () => expect(await database.run(idle)).toEqual([{ queued: deliveries, skipped: 0, pending: 0 }]),
      completedWithinMs,
    );
    const ids = receiver.deliveries.map(({ headers }) => String(headers['webhook-id']));
    expect(new Set(ids).size).toBe(deliveries);
    expect(ids.length - deliveries).toBeLessThanOrEqual(outstandingMax * kills);
    expect(await database.run('select from webhook_failed_delivery')).toEqual([]);
  } finally {
    await database.close();
    await receiver.close();
    await t.close();
  }
}
