import { callOperator, createHarness, type Harness } from '@deedwire/dev-environment/harness';
import { eventually, postGraphql, type Receiver, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import { createInterfaceClient, startInterfaces } from './support/interface-client.ts';
import { newest } from './support/interface-contracts.ts';
import { insertSubscription, type StoredSubscription } from './support/stored-deliveries.ts';

const harness = await forFile(createHarness());
const t = await startInterfaces(harness);

const rejected = (code: string) => ({
  webhookSubscription: null,
  userErrors: [{ code, message: expect.any(String), field: ['input', 'subscriptionId'] }],
});

describe.each(newest)('sendPendingWebhookDeliveries of the $account interface', ({ account: name, date }) => {
  const { mutate } = createInterfaceClient(t, name, date);
  let subscription: StoredSubscription;

  beforeEach(async () => {
    subscription = await insertSubscription(harness, name, harness.accounts[name]);
  });

  const send = (subscriptionId: string) =>
    mutate('sendPendingWebhookDeliveries', 'webhookSubscription { id status }', { subscriptionId });

  test('marks the subscription, once a minute', async () => {
    expect(await send(subscription.gid)).toEqual({
      webhookSubscription: { id: subscription.gid, status: 'ACTIVE' },
      userErrors: [],
    });
    expect(await send(subscription.gid)).toEqual(rejected('RATE_LIMITED'));
  });

  test('finds no deleted subscription', async () => {
    await harness.sql(`update webhook_subscription set deleted_at = now() where id = ${subscription.id}`);
    expect(await send(subscription.gid)).toEqual(rejected('NOT_FOUND'));
    const marked = `select from webhook_subscription where send_pending_at is not null and id = ${subscription.id}`;
    expect(await harness.sql(marked)).toEqual([]);
  });
});

/** Deliveries that have failed once, and wait for an hour. */
async function afterOutage(world: Harness, receiver: Receiver, status: number): Promise<{ id: string; sent: number }> {
  const { id } = await world.subscribe(receiver.url, ['order.placed']);
  receiver.onDelivery = (response) => response.writeHead(status).end();
  await world.place(5);
  await eventually(async () =>
    expect(await world.sql('select from webhook_pending_delivery where attempts > 0')).toHaveLength(5),
  );
  await world.sql(`update webhook_pending_delivery set due_at = now() + interval '1 hour'`);
  // The worker reads the new times.
  await world.sql(
    `insert into webhook_event_queue (account_id, interface, subscription_id)
     select account_id, interface, id from webhook_subscription`,
  );
  await eventually(async () => expect(await world.sql('select from webhook_event_queue')).toEqual([]));
  receiver.onDelivery = (response) => response.writeHead(200).end();
  return { id, sent: receiver.deliveries.length };
}

const attemptsOf = async (world: Harness) =>
  (await world.deliveries()).map(({ status, attempts }) => [status, attempts.length]);
const delivered = Array.from({ length: 5 }, () => ['DELIVERED', 2]);

describe('the worker', () => {
  test('counts what a replay skips as pending', async () => {
    await using stack = new AsyncDisposableStack();
    const world = stack.adopt(await createHarness(), (each) => each.close());
    const receiver = stack.adopt(await startReceiver(), (each) => each.close());
    const { url, whenReady } = await world.startApi('customer');
    await whenReady;
    await world.startWorker();
    const { id, sent } = await afterOutage(world, receiver, 400);
    // The payload of one of them was deleted.
    await world.sql(
      'delete from webhook_payload where event_id = (select min(event_id) from webhook_pending_delivery)',
    );
    const env = { DATABASE_URL: await world.database.urlFor('operator') };
    const replayed = await callOperator(env, 'subscription', 'replay', id, '--since', '1h', '--all', '--wait');
    expect(replayed.stdout).toMatch(/^The replay \S+ is COMPLETED: 0 queued, 5 skipped \(4 pending\)\n$/);
    const [, replayId] = /^The replay (\S+)/.exec(replayed.stdout) ?? [];
    expect(replayed.stderr).toBe(`The replay ${replayId} runs.\n`);
    const { body } = await postGraphql(`${url}/customer/graphql`, world.accounts.customer.credential, {
      query: '{ webhookReplays { nodes { queuedCount skippedCount skippedPendingCount } } }',
    });
    expect(body.data).toEqual({
      webhookReplays: { nodes: [{ queuedCount: 0, skippedCount: 5, skippedPendingCount: 4 }] },
    });
    expect(receiver.deliveries).toHaveLength(sent);
  });

  test('sends pending deliveries for an operator, whatever their failure, with the same ids and bytes', async () => {
    await using stack = new AsyncDisposableStack();
    const world = stack.adopt(await createHarness(), (each) => each.close());
    const receiver = stack.adopt(await startReceiver(), (each) => each.close());
    await world.startWorker();
    const { id, sent } = await afterOutage(world, receiver, 400);
    const env = { DATABASE_URL: await world.database.urlFor('operator') };
    const send = () => callOperator(env, 'delivery', 'send-pending', '--subscription', id);
    expect(await send()).toMatchObject({
      exitCode: 0,
      stdout: `The pending deliveries of ${id} are due now, oldest first.\n`,
    });
    const requests = await receiver.waitFor(sent + 5);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(5);
    await eventually(async () => expect(await attemptsOf(world)).toEqual(delivered));
    expect(await send()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('within the last minute') });
  });

  test('sends pending deliveries automatically once a new delivery succeeds', async () => {
    await using stack = new AsyncDisposableStack();
    const world = stack.adopt(await createHarness(), (each) => each.close());
    const receiver = stack.adopt(await startReceiver(), (each) => each.close());
    await world.startWorker();
    const { sent } = await afterOutage(world, receiver, 503);
    await world.place(1);
    await receiver.waitFor(sent + 6);
    await eventually(async () =>
      expect((await attemptsOf(world)).toSorted(([, a], [, b]) => Number(a) - Number(b))).toEqual([
        ['DELIVERED', 1],
        ...delivered,
      ]),
    );
    expect(await world.sql('select from webhook_subscription where hastened_at is not null')).toHaveLength(1);
  });
});
