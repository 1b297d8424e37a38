import {
  cancelWebhookReplay,
  deleteWebhookSubscription,
  findWebhookReplay,
  pauseWebhookSubscription,
  replayWebhookEvents,
  type ReplayWebhookEventsInput,
  resumeWebhookSubscription,
} from '@deedwire/actions';
import { callOperator, type Harness, type TestAccount } from '@deedwire/dev-environment/harness';
import { eventually, type Receiver } from '@deedwire/testing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

const since = new Date('2026-01-02T00:00:00Z');

async function start(
  { customerApi }: Harness,
  customer: TestAccount,
  subscriptionId: string,
  input: Partial<ReplayWebhookEventsInput> = { onlyFailed: false, since },
): Promise<string> {
  const { webhookReplay, userErrors } = await replayWebhookEvents(customerApi, customer, {
    subscriptionId,
    ...input,
  });
  expect(userErrors).toEqual([]);
  return webhookReplay?.id ?? '';
}

const read = ({ customerApi }: Harness, customer: TestAccount, id: string) =>
  findWebhookReplay(customerApi, customer, id);

const expectNothingPending = ({ sql }: Harness, { accountId }: TestAccount) =>
  eventually(async () =>
    expect(await sql('select from webhook_pending_delivery where account_id = $1', [accountId])).toEqual([]),
  );

/** A subscription whose receiver has got `count` events. */
async function deliver(harness: Harness, customer: TestAccount, receiver: Receiver, count: number): Promise<string> {
  const { id } = await harness.subscribe(receiver.url, ['order.placed'], customer);
  await harness.place(count, customer);
  await receiver.waitFor(count);
  await expectNothingPending(harness, customer);
  return id;
}

const sequences = ({ deliveries }: Receiver) =>
  deliveries.map(({ headers }) => Number(headers['x-service-webhook-sequence']));

test.concurrent('everything of a range is sent again once, and the replay is COMPLETED', async ({
  shared,
  customer,
  receiver,
}) => {
  const subscriptionId = await deliver(shared, customer, receiver, 30);
  const id = await start(shared, customer, subscriptionId, { onlyFailed: false, fromSequence: 6, toSequence: 25 });
  await receiver.waitFor(50);
  await eventually(async () =>
    expect(await read(shared, customer, id)).toMatchObject({
      status: 'COMPLETED',
      queuedCount: 20,
      skippedCount: 0,
      position: 1,
    }),
  );
  const replayed = receiver.deliveries.slice(30);
  expect(replayed.map(({ headers }) => headers['x-service-webhook-replay'])).toEqual(
    Array.from({ length: 20 }, () => 'true'),
  );
  expect(
    sequences(receiver)
      .slice(30)
      .toSorted((a, b) => a - b),
  ).toEqual(Array.from({ length: 20 }, (_, index) => index + 6));
  for (const { headers, body } of replayed) {
    const first = receiver.deliveries.find((one) => one.headers['webhook-id'] === headers['webhook-id']);
    expect(body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
    expect(headers['x-service-webhook-attempt']).toBe('2');
  }
});

test.concurrent('a replay waits while the subscription is paused, and new events are sent meanwhile', async ({
  shared,
  customer,
  receiver,
}) => {
  const { customerApi } = shared;
  const subscriptionId = await deliver(shared, customer, receiver, 10);
  await pauseWebhookSubscription(customerApi, customer, { id: subscriptionId });
  const id = await start(shared, customer, subscriptionId);
  expect(await read(shared, customer, id)).toMatchObject({ status: 'RUNNING', waitsFor: 'PAUSED', queuedCount: 0 });
  await resumeWebhookSubscription(customerApi, customer, { id: subscriptionId });
  await shared.place(1, customer);
  await receiver.waitFor(21);
  await eventually(async () =>
    expect(await read(shared, customer, id)).toMatchObject({ status: 'COMPLETED', queuedCount: 10 }),
  );
});

test.concurrent('a cancelled replay sends what it has queued, and no more', async ({ shared, customer, receiver }) => {
  const { customerApi } = shared;
  const subscriptionId = await deliver(shared, customer, receiver, 30);
  const id = await start(shared, customer, subscriptionId, { onlyFailed: false, since, maxPerSecond: 1 });
  await receiver.waitFor(31);
  await cancelWebhookReplay(customerApi, customer, { id });
  const replay = await read(shared, customer, id);
  expect(replay).toMatchObject({ status: 'CANCELLED', endedAt: expect.any(Date) });
  await expectNothingPending(shared, customer);
  expect(receiver.deliveries).toHaveLength(30 + (replay?.queuedCount ?? 0));
  expect(replay?.queuedCount).toBeLessThan(20);
});

test.concurrent('a replay ends when its subscription is deleted', async ({ shared, customer, receiver }) => {
  const { customerApi } = shared;
  const subscriptionId = await deliver(shared, customer, receiver, 20);
  const id = await start(shared, customer, subscriptionId, { onlyFailed: false, since, maxPerSecond: 1 });
  await receiver.waitFor(21);
  await deleteWebhookSubscription(customerApi, customer, { id: subscriptionId });
  const open = 'select from webhook_replay where ended_at is null and account_id = $1';
  await eventually(async () => expect(await shared.sql(open, [customer.accountId])).toEqual([]));
  await expectNothingPending(shared, customer);
  expect(await read(shared, customer, id)).toMatchObject({ status: 'SUBSCRIPTION_DELETED' });
});

test.concurrent('an operator counts, replays and waits', async ({ shared, customer, receiver }) => {
  const subscriptionId = await deliver(shared, customer, receiver, 20);
  const env = { DATABASE_URL: await shared.database.urlFor('operator') };
  const options = ['--from-sequence', '1', '--all', '--max-per-second', '10'];
  const counted = await callOperator(env, 'subscription', 'replay', subscriptionId, ...options, '--dry-run');
  expect(counted).toEqual({
    exitCode: 0,
    stdout: '20 deliveries, at least 2 seconds\n  order.placed: 20\n',
    stderr: '',
  });
  const none = await callOperator(env, 'subscription', 'replay', subscriptionId, '--dry-run');
  expect(none.stdout).toBe('No deliveries match. Those that did not fail match only with --all.\n');
  const replayed = await callOperator(env, 'subscription', 'replay', subscriptionId, ...options, '--wait', '--json');
  expect(replayed).toMatchObject({ exitCode: 0, stderr: '' });
  const { id, ...replay }: { id: string } = JSON.parse(replayed.stdout);
  expect(replay).toMatchObject({ status: 'COMPLETED', queuedCount: 20, skippedCount: 0, position: 1, waitsFor: null });
  await receiver.waitFor(40);
  const cancelled = await callOperator(env, 'subscription', 'cancel-replay', id);
  expect(cancelled.stdout).toBe(`The replay ${id} is COMPLETED: 20 queued, 0 skipped\n`);
  const missing = await callOperator(env, 'subscription', 'cancel-replay', 'gid://service/WebhookReplay/1');
  expect(missing).toMatchObject({
    exitCode: 1,
    stderr: 'error: The replay gid://service/WebhookReplay/1 does not exist.\n',
  });
  expect((await callOperator(env, 'subscription', 'replay', subscriptionId, '--since', 'nope')).exitCode).toBe(2);
});
