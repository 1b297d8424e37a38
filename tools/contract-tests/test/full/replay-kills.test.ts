import { startTestSystem } from '@deedwire/dev-environment/harness';
import { connect, eventually, startReceiver } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { endsWithin } from '../support/faults/ends-within.ts';
import { createInterfaceClient } from '../support/interface-client.ts';
import { storeFailures } from '../support/store-failures.ts';
import { subscribe } from '../support/subscribe.ts';

// `KILLS=200` is a longer run. The deliveries are more than the kills let through, so that each interrupts the replay.
const kills = Number(process.env['KILLS'] ?? 3);
const deliveries = Math.max(400, kills * 100);
const places = ['replay-before-write', 'replay-after-write', 'replay-after-offer'] as const;

/** Of the feeder: replayed deliveries that wait, are in flight or unsettled. */
const outstandingMax = 8;

/** Guards against hanging only. */
const completedWithinMs = 120_000;

// A worker that does not own the shard yet arrives at the place later.
const arrivesWithinMs = 120_000;

test('a replay is complete although its workers are killed before and after they queue deliveries, and a kill repeats at most 8', async () => {
  const receiver = await forTest(startReceiver());
  const appEnv = { 'webhook-worker': { WORKER_LEASE_MS: '1000' } };
  const t = await forTest(startTestSystem({ apps: ['customer-api', 'webhook-worker'], appEnv }));
  const database = await forTest(connect(t.database.databaseUrl));
  await subscribe(t.customer, { callbackUrl: receiver.url, eventTypes: [{ type: 'order.placed' }] });
  const subscriptionId = await storeFailures(database, receiver.url, deliveries);
  const worker = t.system.apps['webhook-worker'];
  worker.kill('SIGKILL');
  await worker.ended;
  const { mutate } = createInterfaceClient(t, 'customer', '2026-11-01');
  const replay = { subscriptionId, maxPerSecond: 500 };
  expect(await mutate('replayWebhookEvents', 'webhookReplay { id }', replay)).toMatchObject({ userErrors: [] });

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
  const repeats = ids.length - deliveries;
  expect(repeats).toBeLessThanOrEqual(outstandingMax * kills);
  expect(await database.run('select from webhook_failed_delivery')).toEqual([]);
});
