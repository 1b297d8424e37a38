import { createHarness } from '@deedwire/dev-environment/harness';
import { type Client, connect, createClient, eventually, startReceiver } from '@deedwire/testing';
import { expect, test } from 'vitest';
import * as operations from '../consumers/referral-portal/generated/2026-11-01.ts';
import { replayFailed } from './support/replay.ts';
import { storeFailures } from './support/store-failures.ts';
import { subscribe } from './support/subscribe.ts';

// `pnpm bench replay` measures the same at full size: 100,000 deliveries.
const failures = 300;
/** Of 16 requests, a replay uses at most 8. */
const replayedMax = 8;

async function refer(client: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const { createReferral } = await client.request(operations.ReferDocument, { input: { clientName: 'Ada' } });
    expect(createReferral.userErrors).toEqual([]);
  }
}

test('new events pass a replay whose receiver does not respond, and so do those of other accounts', async () => {
  const t = await createHarness();
  const api = await t.startPartnerApi();
  await t.startWorker();
  const clientOf = (name: 'partner' | 'otherPartner'): Client =>
    createClient(`${api.url}/partners/graphql`, t.accounts[name].credential);
  const [partner, otherPartner] = [clientOf('partner'), clientOf('otherPartner')];
  const [receiver, otherReceiver] = [await startReceiver(), await startReceiver()];
  const database = await connect(t.database.databaseUrl);
  try {
    const eventTypes = [{ type: 'referral.created' }, { type: 'referral.converted' }];
    await subscribe(partner, { callbackUrl: receiver.url, eventTypes });
    await subscribe(otherPartner, { callbackUrl: otherReceiver.url, eventTypes });
    const subscriptionId = await storeFailures(database, receiver.url, failures);
    // Successes open the window of the lane.
    await refer(partner, 20);
    await receiver.waitFor(20);

    const held = new Set<() => void>();
    /** How many replayed requests have no response when a new event arrives. */
    const besideNewEvents: number[] = [];
    receiver.onDelivery = (response, { headers }) => {
      if (headers['x-service-webhook-replay'] === undefined) {
        besideNewEvents.push(held.size);
        response.writeHead(204).end();
        return;
      }
      const respond = () => {
        // Before the response leaves: the sender may start the next request when it arrives.
        held.delete(respond);
        response.writeHead(204).end();
      };
      held.add(respond);
    };
    otherReceiver.onDelivery = (response) => {
      besideNewEvents.push(held.size);
      response.writeHead(204).end();
    };
    await replayFailed(partner, subscriptionId);
    await eventually(() => expect(held.size).toBe(replayedMax));
    await refer(partner, 5);
    await refer(otherPartner, 1);
    await eventually(() => expect(besideNewEvents).toHaveLength(6));
    expect(Math.max(...besideNewEvents)).toBe(replayedMax);

    // A slow receiver gets the rest, and new events between.
    const respondAll = setInterval(() => held.forEach((respond) => respond()), 20);
    try {
      await refer(partner, 20);
      await eventually(async () => {
        const { replayed, pending } = await progress();
        expect({ replayed, pending }).toEqual({ replayed: failures, pending: 0 });
      });
    } finally {
      clearInterval(respondAll);
    }
    expect(Math.max(...besideNewEvents)).toBe(replayedMax);
    const sent = receiver.deliveries.map(({ headers }) => String(headers['webhook-id']));
    expect(new Set(sent).size).toBe(20 + failures + 5 + 20);
  } finally {
    await database.close();
    await receiver.close();
    await otherReceiver.close();
    await t.close();
  }

  async function progress(): Promise<Record<string, unknown>> {
    const [row = {}] = await database.run(`
      select (select queued from webhook_replay where ended_at is not null) as replayed,
        (select count(*)::int from webhook_pending_delivery) as pending`);
    return row;
  }
});
