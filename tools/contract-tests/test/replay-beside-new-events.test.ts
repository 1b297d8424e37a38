import { createHarness } from '@deedwire/dev-environment/harness';
import { connect, eventually, startReceiver } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { createInterfaceClient, startInterfaces } from './support/interface-client.ts';
import { storeFailures } from './support/store-failures.ts';

// `pnpm bench replay` measures the same at full size: 100,000 deliveries.
const failures = 300;
/** Of 16 requests, a replay uses at most 8. */
const replayedMax = 8;

type Requests = ReturnType<typeof createInterfaceClient>;

async function place({ mutate }: Requests, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    expect(await mutate('placeOrder', 'order { id }', { item: 'Ada' })).toMatchObject({ userErrors: [] });
}

test('new events pass a replay whose receiver does not respond, and so do those of other accounts', async () => {
  const receiver = await forTest(startReceiver());
  const otherReceiver = await forTest(startReceiver());
  const t = await forTest(createHarness());
  const served = await startInterfaces(t, ['customer']);
  await t.startWorker();
  const customer = createInterfaceClient(served, 'customer', '2026-11-01');
  const otherCustomer = createInterfaceClient(served, 'otherCustomer', '2026-11-01');
  const database = await forTest(connect(t.database.databaseUrl));
  const types = ['order.placed', 'api_key.created'];
  await t.subscribe(receiver.url, types);
  await t.subscribe(otherReceiver.url, types, t.accounts.otherCustomer);
  const subscriptionId = await storeFailures(database, receiver.url, failures);
  // Successes open the window of the lane.
  await place(customer, 20);
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
    // On a busy machine, a request can end by its time limit.
    response.once('close', () => held.delete(respond));
  };
  otherReceiver.onDelivery = (response) => {
    besideNewEvents.push(held.size);
    response.writeHead(204).end();
  };
  const replay = { subscriptionId, maxPerSecond: 500 };
  expect(await customer.mutate('replayWebhookEvents', 'webhookReplay { id }', replay)).toMatchObject({
    userErrors: [],
  });
  await eventually(() => expect(held.size).toBe(replayedMax));
  await place(customer, 5);
  await place(otherCustomer, 1);
  await eventually(() => expect(besideNewEvents).toHaveLength(6));
  expect(Math.max(...besideNewEvents)).toBe(replayedMax);

  // A slow receiver gets the rest, and new events between.
  const respondAll = setInterval(() => held.forEach((respond) => respond()), 20);
  try {
    await place(customer, 20);
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

  async function progress(): Promise<Record<string, unknown>> {
    const [row = {}] = await database.run(`
      select (select queued from webhook_replay where ended_at is not null) as replayed,
        (select count(*)::int from webhook_pending_delivery) as pending`);
    return row;
  }
});
