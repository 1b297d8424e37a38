import { retryWebhookDelivery, pauseWebhookSubscription, resumeWebhookSubscription } from '@deedwire/actions';
import { callOperator, type Harness } from '@deedwire/dev-environment/harness';
import { eventually, type Receiver, startReceiver } from '@deedwire/testing';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

const retry = async ({ customerApi, accounts }: Harness, id: string) => {
  const { userErrors, webhookDelivery } = await retryWebhookDelivery(customerApi, accounts.customer, { id });
  expect(userErrors).toEqual([]);
  return webhookDelivery;
};

async function onlyDelivery(harness: Harness) {
  const [delivery, ...others] = await harness.deliveries();
  if (delivery === undefined || others.length > 0) throw new Error(`Expected one delivery, got ${others.length + 1}.`);
  return delivery;
}

const replayHeaders = ({ deliveries }: Receiver) =>
  deliveries.map(({ headers }) => [headers['x-service-webhook-attempt'], headers['x-service-webhook-replay']]);

test.concurrent('a delivered delivery is sent again with the same bytes and id, and announced', async ({
  harness,
  receiver,
}) => {
  await harness.startWorker();
  const { secret } = await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(1);
  await receiver.waitFor(1);
  await eventually(async () => expect(await onlyDelivery(harness)).toMatchObject({ status: 'DELIVERED' }));
  const { id } = await onlyDelivery(harness);
  expect(await retry(harness, id)).toMatchObject({ status: 'PENDING' });
  const [first, second] = await receiver.waitFor(2);
  expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
  const same = ['webhook-id', 'x-service-webhook-sequence', 'x-service-webhook-event-version'];
  for (const name of same) expect(second?.headers[name]).toBe(first?.headers[name]);
  verifyWebhook({ prefix: 'X-Service', headers: second?.headers ?? {}, body: second?.body ?? '', secret });
  expect(replayHeaders(receiver)).toEqual([
    ['1', undefined],
    ['2', 'true'],
  ]);
  await eventually(async () => expect(await onlyDelivery(harness)).toMatchObject({ status: 'DELIVERED' }));
  expect((await onlyDelivery(harness)).attempts).toHaveLength(2);
});

test.concurrent('a pending delivery is sent at once, and the breaker lets it through', async ({
  harness,
  receiver,
}) => {
  await harness.startWorker();
  await harness.subscribe(receiver.url, ['order.placed']);
  receiver.onDelivery = (response) => response.writeHead(500).end();
  await harness.place(12);
  await receiver.waitFor(10);
  const open = 'select from webhook_receiver_state where breaker_open_until > now()';
  await eventually(async () => expect(await harness.sql(open)).toHaveLength(1));
  // All wait: for the breaker, or for their next attempts.
  await harness.sql(`update webhook_receiver_state set breaker_open_until = now() + interval '1 hour'`);
  await harness.sql(`update webhook_pending_delivery set due_at = now() + interval '1 hour'`);
  receiver.onDelivery = (response) => response.writeHead(200).end();
  const sent = receiver.deliveries.length;
  const chosen = (await harness.deliveries()).find(({ event }) => event.type === 'order.placed');
  await retry(harness, chosen?.id ?? '');
  // On a busy machine, first attempts that began before the breaker opened can still arrive.
  const ofChosen = () => receiver.deliveries.slice(sent).find(({ headers }) => headers['webhook-id'] === chosen?.id);
  await eventually(async () => expect(ofChosen()).toBeDefined());
  expect(ofChosen()?.headers['x-service-webhook-replay']).toBeUndefined();
});

test.concurrent('a retry of a delivery in flight waits for the result, and starts at once if it is a failure', async ({
  harness,
  receiver,
}) => {
  await harness.startWorker();
  await harness.subscribe(receiver.url, ['order.placed']);
  const arrived = Promise.withResolvers<() => void>();
  receiver.onDelivery = (response) => arrived.resolve(() => response.writeHead(503, { 'Retry-After': '3600' }).end());
  await harness.place(1);
  const fail = await arrived.promise;
  await retry(harness, (await onlyDelivery(harness)).id);
  // The worker has seen the retry.
  await eventually(async () => expect(await harness.sql('select from webhook_event_queue')).toEqual([]));
  expect(receiver.deliveries).toHaveLength(1);
  receiver.onDelivery = (response) => response.writeHead(200).end();
  fail();
  // By its schedule, it would start an hour later.
  await receiver.waitFor(2);
  await eventually(async () => expect(await onlyDelivery(harness)).toMatchObject({ status: 'DELIVERED' }));
});

test.concurrent('a retry waits for a paused subscription, and uses its new URL', async ({ harness, receiver }) => {
  const { accounts, customerApi } = harness;
  await harness.startWorker();
  const { id: subscriptionId } = await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(1);
  await receiver.waitFor(1);
  await eventually(async () => expect(await onlyDelivery(harness)).toMatchObject({ status: 'DELIVERED' }));
  await pauseWebhookSubscription(customerApi, accounts.customer, { id: subscriptionId });
  const { id } = await onlyDelivery(harness);
  expect(await retry(harness, id)).toMatchObject({ status: 'PENDING', nextAttemptAt: null });
  await eventually(async () => expect(await harness.sql('select from webhook_event_queue')).toEqual([]));
  const why = await callOperator({ DATABASE_URL: await harness.database.urlFor('operator') }, 'delivery', 'why', id);
  expect(why.stdout).toContain('PENDING: PAUSED');
  const successor = await startReceiver();
  try {
    await harness.sql('update webhook_subscription set callback_url = $1, url_number = url_number + 1', [
      successor.url,
    ]);
    await resumeWebhookSubscription(customerApi, accounts.customer, { id: subscriptionId });
    await successor.waitFor(1);
    expect(receiver.deliveries).toHaveLength(1);
  } finally {
    await successor.close();
  }
});

test.concurrent('an operator sends a delivery again', async ({ harness, receiver }) => {
  await harness.startWorker();
  await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(1);
  await receiver.waitFor(1);
  await eventually(async () => expect(await onlyDelivery(harness)).toMatchObject({ status: 'DELIVERED' }));
  const { id } = await onlyDelivery(harness);
  const retried = await callOperator(
    { DATABASE_URL: await harness.database.urlFor('operator') },
    'delivery',
    'retry',
    id,
  );
  expect(retried).toEqual({
    exitCode: 0,
    stdout: `The delivery ${id} is sent again. \`delivery why\` says what it waits for.\n`,
    stderr: '',
  });
  const entry = `select actor_type as type from audit_entry where action = 'webhook_delivery.retry'`;
  expect(await harness.sql(entry)).toEqual([{ type: 'OPERATOR' }]);
  await receiver.waitFor(2);
});
