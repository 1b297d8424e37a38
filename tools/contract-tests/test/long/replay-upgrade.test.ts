import type { RunningApp } from '@deedwire/dev-environment';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { connect, eventually, startReceiver } from '@deedwire/testing';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import * as operations from '../../consumers/referral-portal/generated/2026-11-01.ts';
import { checkOutLastRelease } from '../support/last-release.ts';
import { replayFailed, retryDelivery } from '../support/replay.ts';
import { storeFailures } from '../support/store-failures.ts';
import { subscribe } from '../support/subscribe.ts';

const failures = 300;
/** Of the feeder: replayed deliveries that wait, are in flight or unsettled. */
const outstandingMax = 8;
// Where workers of this build are killed while they replay.
const places = ['replay-after-write:3', 'replay-after-offer:6', 'replay-before-write:9'];

interface Deliveries {
  webhookDeliveries: { nodes: { event: { id: string } }[] };
}

const deliveries = `{ webhookDeliveries(first: 5) {
  nodes { status isTest event { id } attempts { number exchange { responseBytes } } } } }`;

async function end(worker: RunningApp): Promise<void> {
  worker.kill('SIGTERM');
  await worker.ended;
}

test('a worker of a release without replays loses nothing of one, and repeats no more than it was left', async () => {
  const release = await checkOutLastRelease('0020-webhook-replays.sql');
  const t = await startTestSystem({ appEnv: { 'webhook-worker': { WORKER_LEASE_MS: '2000' } } });
  const receiver = await startReceiver();
  const database = await connect(t.database.databaseUrl);
  const addOld = () => t.system.add('webhook-worker', {}, release.folder);
  const readOne = async (statement: string): Promise<Record<string, unknown>> =>
    (await database.run(statement))[0] ?? {};
  const ofReplay =
    'from webhook_pending_delivery where replay_id in (select id from webhook_replay where delivery_id is null)';
  try {
    const eventTypes = [{ type: 'referral.created' }, { type: 'referral.converted' }, { type: 'webhook.test' }];
    await subscribe(t.partner, { callbackUrl: receiver.url, eventTypes });
    const subscriptionId = await storeFailures(database, receiver.url, failures);
    const current = t.system.apps['webhook-worker'];
    await t.partner.request(operations.ReferDocument, { input: { clientName: 'Ada' } });
    const [sent] = await receiver.waitFor(1);
    const live = String(sent?.headers['webhook-id']);
    await eventually(async () => expect(await database.run('select from webhook_pending_delivery')).toEqual([]));
    await end(current);

    // A worker of the release takes the changes of the subscription, and delivers what is new.
    let old = await addOld();
    await replayFailed(t.partner, subscriptionId);
    await retryDelivery(t.partner, live);
    const { sendTestWebhookEvent } = await t.partner.request(operations.SendTestDocument, {
      input: { subscriptionId },
    });
    expect(sendTestWebhookEvent.userErrors).toEqual([]);
    await receiver.waitFor(2);
    await eventually(async () => expect(await database.run('select from webhook_event_queue')).toEqual([]));
    expect(
      await readOne(
        'select count(*)::int as open, sum(queued)::int as queued from webhook_replay where ended_at is null',
      ),
    ).toEqual({
      open: 2,
      queued: 0,
    });
    // The release neither marks its delivery as a test nor stores details of attempts.
    await eventually(async () =>
      expect(await readDelivery(sendTestWebhookEvent.webhookEventId ?? '')).toMatchObject({
        status: 'DELIVERED',
        isTest: expect.any(Boolean),
        attempts: [{ number: 1, exchange: null }],
      }),
    );

    // Workers of this build queue parts of the replay and are killed. What they leave fails once at the release.
    let leftMax = 0;
    let failedByRelease = 0;
    for (const place of places) {
      await end(old);
      receiver.onDelivery = (response) => setTimeout(() => response.writeHead(204).end(), 20);
      const env = { NODE_ENV: 'test', DEEDWIRE_FAILPOINT: place };
      const killed = await t.system.add('webhook-worker', env).catch((error: unknown) => {
        // It can end before it was seen ready.
        if (error instanceof Error && error.message.includes('ended (SIGKILL)')) return null;
        throw error;
      });
      await killed?.ended;
      const { count: left } = await readOne(`select count(*)::int as count ${ofReplay}`);
      leftMax = Math.max(leftMax, Number(left));
      receiver.onDelivery = (response) => {
        failedByRelease += 1;
        response.writeHead(500).end();
      };
      old = await addOld();
      // The release gives the rows that it writes no replay.
      await eventually(async () => expect(await database.run(`select ${ofReplay}`)).toEqual([]));
    }
    expect(leftMax).toBeGreaterThan(0);
    expect(leftMax).toBeLessThanOrEqual(outstandingMax);
    await end(old);

    receiver.onDelivery = (response) => response.writeHead(204).end();
    await t.system.restart('webhook-worker');
    await eventually(async () =>
      expect(
        await database.run(
          `select queued, skipped from webhook_replay where delivery_id is null and ended_at is not null`,
        ),
      ).toEqual([{ queued: failures, skipped: 0 }]),
    );
    await eventually(async () => {
      expect(await database.run('select from webhook_pending_delivery')).toEqual([]);
      expect(await database.run('select from webhook_replay where ended_at is null')).toEqual([]);
    });
    const ids = receiver.deliveries.map(({ headers }) => String(headers['webhook-id']));
    expect(new Set(ids).size).toBe(failures + 2);
    expect(await database.run('select from webhook_failed_delivery')).toEqual([]);
    // The retry of the delivery that was sent first.
    expect(ids.filter((id) => id === live)).toHaveLength(2);
    expect(ids.length - new Set(ids).size - 1 - failedByRelease).toBeLessThanOrEqual(outstandingMax * places.length);
  } finally {
    await database.close();
    await receiver.close();
    await t.close();
    await release.remove();
  }

  async function readDelivery(eventId: string): Promise<unknown> {
    const { webhookDeliveries } = await t.partner.request<Deliveries, object>(parse(deliveries), {});
    return webhookDeliveries.nodes.find(({ event }) => event.id === eventId);
  }
});
