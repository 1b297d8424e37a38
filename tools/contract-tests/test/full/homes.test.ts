import { setTimeout as sleep } from 'node:timers/promises';
import {
  createWebhookListener,
  deleteWebhookSubscription,
  replayWebhookEvents,
  retryWebhookDelivery,
  rotateWebhookSecret,
} from '@deedwire/actions';
import {
  callOperatorWith,
  createHarness,
  createTestAccounts,
  type Harness,
  startTestSystem,
} from '@deedwire/dev-environment/harness';
import { eventually, postGraphql, type Receiver, startConnectProxy, startReceiver } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { freezeAtRequests } from '../support/freeze-under-load.ts';
import { comeHome, freeze, hashTables, leave, untilQuiet } from '../support/homes.ts';
import { subscribe } from '../support/subscribe.ts';
import { PlaceDocument } from '../support/webhook-operations.ts';

async function open(): Promise<{ harness: Harness; receiver: Receiver }> {
  const harness = await forTest(createHarness());
  const receiver = await forTest(startReceiver());
  return { harness, receiver };
}

const number = (id: string): string => id.slice(id.lastIndexOf('/') + 1);
const refused = { status: 503, code: 'SERVICE_UNAVAILABLE', retryAfter: '5' };

test('an account that leaves is read until it is at home elsewhere, and no request that is refused costs points', async () => {
  const { harness } = await open();
  const { customer } = harness.accounts;
  const { customer: other } = await createTestAccounts(harness.operator);
  // Without the points that time restores.
  await harness.sql('update api_client set cost_restore_rate = 1');
  const service = await harness.startApi('customer');
  await service.whenReady;
  let sent = 0;
  const send = async (query: string, { credential } = customer) => {
    // Reading a document costs points.
    const unread = `${query} # ${'x'.repeat(5_000)} ${(sent += 1)}`;
    const { status, headers, body } = await postGraphql(`${service.url}/customer/graphql`, credential, {
      query: unread,
    });
    const left = Number(headers.get('RateLimit')?.match(/r=(\d+)/)?.[1]);
    const result = { status, code: body.errors?.[0]?.extensions.code, retryAfter: headers.get('Retry-After') };
    return { ...result, left };
  };
  const read = '{ customer { name } }';
  const place = 'mutation { placeOrder(input: { item: "Client", idempotencyKey: "1" }) { userErrors { code } } }';
  const ids = [customer.accountId];

  expect(await send(read)).toMatchObject({ status: 200 });
  const before = await send(read);
  const startMs = performance.now();
  await freeze(harness, ids);
  // Its key is cached: the transaction finds the freeze.
  const atOnce = await send(place);
  expect(atOnce).toMatchObject(refused);
  await sleep(1_000);
  const later = await send(place);
  expect(later).toMatchObject(refused);
  const restored = (performance.now() - startMs) / 1_000;
  expect(later.left).toBeGreaterThan(before.left - 5);
  expect(later.left).toBeLessThan(before.left + 5 + restored);
  expect(await harness.sql('select from customer_order')).toEqual([]);
  expect(await harness.sql('select from idempotency_key')).toEqual([]);
  expect(await send(read)).toMatchObject({ status: 200 });
  expect(await send(place, other)).toMatchObject({ status: 200 });

  await leave(harness, ids);
  expect(await send(read)).toMatchObject(refused);
  expect(await send(place)).toMatchObject(refused);
  expect(await send(read, other)).toMatchObject({ status: 200 });
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  // Two of the account while it was frozen, and two while it was foreign, before their version was known.
  expect(metrics.match(/_count\{.*outcome="ACCOUNT_AWAY"\} 2$/gm)).toHaveLength(2);
  expect(metrics).not.toContain('SERVICE_UNAVAILABLE');
  await comeHome(harness, ids);
  expect(await send(place)).toMatchObject({ status: 200 });
  expect(await send(read)).toMatchObject({ status: 200 });
});

test('a freeze at each request refuses only what comes after it, and loses and doubles nothing', async () => {
  const { harness, receiver } = await open();
  const { customer: staying } = await createTestAccounts(harness.operator);
  const service = await harness.startApi('customer');
  await service.whenReady;
  await harness.startWorker();
  const url = `${service.url}/customer/graphql`;
  const counts = await freezeAtRequests(harness, { url, leaving: harness.accounts.customer, staying, receiver }, 25);
  expect(counts.acknowledged).toBeGreaterThan(25);
  expect(counts.refused).toBeGreaterThan(0);
});

test('the worker writes no row of accounts that are not at home, and does the waiting work once they are', async () => {
  const { harness, receiver } = await open();
  const { customerApi, accounts, sql } = harness;
  const { customer } = accounts;
  const failing = await forTest(startReceiver());
  // Without another attempt before the worker stops.
  failing.onDelivery = (response) => void response.writeHead(500, { 'Retry-After': '3600' }).end();
  const kept = await harness.subscribe(receiver.url, ['order.placed', 'webhook_subscription.disrupted']);
  const broken = await harness.subscribe(failing.url, ['order.placed']);
  const deleted = await harness.subscribe(failing.url, ['order.placed']);
  const waiting = await harness.subscribe(failing.url, ['order.placed']);
  let worker = await harness.startWorker();
  await harness.place(3);
  await receiver.waitFor(3);
  await failing.waitFor(9);
  await eventually(async () =>
    expect(await sql('select from webhook_pending_delivery where attempts = 1')).toHaveLength(9),
  );
  await harness.stopWorker(worker);

  // Everything that a worker can do waits.
  await harness.place(2);
  await replayWebhookEvents(customerApi, customer, {
    subscriptionId: kept.id,
    onlyFailed: false,
    since: new Date('2026-01-02T00:00:00Z'),
  });
  const [failedDelivery] = await sql(
    `with failed as (
       delete from webhook_pending_delivery
       where (subscription_id, delivery_id) in (
         select subscription_id, min(delivery_id) from webhook_pending_delivery where subscription_id = $1 group by 1
       )
       returning *
     )
     insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
     select subscription_id, delivery_id, interface from failed
     returning delivery_id::text as id`,
    [number(broken.id)],
  );
  await retryWebhookDelivery(customerApi, customer, {
    id: `gid://service/WebhookDelivery/${String(failedDelivery?.['id'])}`,
  });
  await deleteWebhookSubscription(customerApi, customer, { id: deleted.id });
  await rotateWebhookSecret(customerApi, customer, { id: kept.id });
  await createWebhookListener(customerApi, customer, { eventTypes: [{ type: 'order.placed' }] });
  await sql(`do $$ begin
    update webhook_pending_delivery set due_at = now();
    delete from webhook_subscription_event_type where subscription_id = ${number(waiting.id)};
    update webhook_subscription set rotation_started_at = now() - interval '2 days', rotation_ends_at = now() - interval '1 day'
      where rotation_ends_at is not null;
    update webhook_subscription set last_read_at = now() - interval '3 days' where kind = 'LISTENER';
    update webhook_receiver_state set failing_since = now() - interval '1 hour';
    insert into webhook_failure_to_report (subscription_id, delivery_id, failed_at)
      select subscription_id, delivery_id, now() - interval '1 hour' from webhook_failed_delivery;
    insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until, created_at)
      values (${customer.accountId}, 'customer', 'm', 'k', '', gen_random_uuid(), now(), now() - interval '2 days');
    insert into portal_session (account_id, interface, abilities, actor, link_hash, expires_at)
      values (${customer.accountId}, 'customer', '{READ}', 'a', sha256('a'), now() + interval '1 minute');
    set local session_replication_role = replica;
    update portal_session set expires_at = now() - interval '2 days';
    set local session_replication_role = origin;
    insert into webhook_replay (account_id, interface, subscription_id, only_failed, per_second, from_id, until_id, last_id)
      values (${customer.accountId}, 'customer', ${number(broken.id)}, true, 50, 0, 1, 0);
    update webhook_replay set ended_at = now() - interval '1 year' where subscription_id = ${number(broken.id)} and delivery_id is null;
    insert into webhook_hour_statistics (subscription_id, hour, counter_id, interface, delivered, failed_attempts, failed)
      values (${number(kept.id)}, date_trunc('hour', now()) - interval '1 year', 1, 'customer', 1, 0, 0);
    end $$`);
  const sent = receiver.deliveries.length + failing.deliveries.length;
  const ids = Object.values(accounts).map(({ accountId }) => accountId);
  const frozenAt = await freeze(harness, ids);
  const rows = await hashTables(harness);
  for (const state of ['frozen', 'foreign']) {
    worker = await harness.startWorker();
    if (state === 'frozen') await untilQuiet(harness, frozenAt);
    await sleep(6_000);
    // Of another cell, these are still deleted by their age.
    const old = state === 'foreign' && { idempotency_key: null, portal_session: null };
    expect(await hashTables(harness)).toEqual({ ...rows, ...old });
    expect(receiver.deliveries.length + failing.deliveries.length).toBe(sent);
    if (state === 'foreign') break;
    await harness.stopWorker(worker);
    await leave(harness, ids);
  }

  // The worker runs, and nothing wakes it but the rows.
  failing.onDelivery = receiver.onDelivery;
  await comeHome(harness, ids);
  const startedMs = performance.now();
  await eventually(async () => expect(receiver.deliveries.length).toBeGreaterThanOrEqual(3 + 2 + 3));
  // Not once a minute, as what is looked for rarely.
  expect(performance.now() - startedMs).toBeLessThan(30_000);
  await eventually(async () =>
    expect(
      await sql(`select
        (select count(*) from webhook_event_queue)::int as queued,
        (select count(*) from webhook_replay where ended_at is null)::int as replays,
        (select count(*) from webhook_pending_delivery)::int as pending`),
    ).toEqual([{ queued: 0, replays: 0, pending: 0 }]),
  );
});

test('a worker is quiet once the attempt that was in flight is recorded', async () => {
  const { harness, receiver } = await open();
  const { sql, accounts } = harness;
  const answer = Promise.withResolvers<void>();
  receiver.onDelivery = (response) => void answer.promise.then(() => response.writeHead(204).end());
  await harness.subscribe(receiver.url, ['order.placed']);
  await harness.startWorker({ POLL_INTERVAL_MS: 0 });
  await harness.place(2);
  await receiver.waitFor(1);
  const frozenAt = await freeze(harness, [accounts.customer.accountId]);
  const unquiet = () => sql('select name from webhook_unquiet_workers($1)', [frozenAt]);
  await sleep(500);
  expect(await unquiet()).toHaveLength(1);
  answer.resolve();
  await untilQuiet(harness, frozenAt);
  const attempts = await sql('select from webhook_attempt');
  expect(attempts).toHaveLength(receiver.deliveries.length);
  await sleep(1_000);
  expect(receiver.deliveries).toHaveLength(attempts.length);
  expect(await sql('select sum(delivered)::int as delivered from webhook_hour_statistics')).toEqual([
    { delivered: attempts.length },
  ]);
});

test('a worker that starts during a freeze, or registers again, acknowledges it without polling', async () => {
  const { harness } = await open();
  const frozenAt = await freeze(harness, [harness.accounts.customer.accountId]);
  await harness.startWorker({ POLL_INTERVAL_MS: 0 });
  await untilQuiet(harness, frozenAt);
  await harness.sql('update webhook_worker set alive = false');
  await eventually(async () => expect(await harness.sql('select from webhook_worker where alive')).toHaveLength(1));
  await untilQuiet(harness, frozenAt);
});

test('a worker whose lease has expired is declared dead by the freeze', async () => {
  const { harness } = await open();
  const { sql } = harness;
  await sql(
    `insert into webhook_worker (name, leased_until) values ('stopped', now() - interval '1 second'), ('live', now() + interval '1 minute')`,
  );
  const frozenAt = await freeze(harness, [harness.accounts.customer.accountId]);
  expect(await sql('select name from webhook_unquiet_workers($1)', [frozenAt])).toEqual([{ name: 'live' }]);
  expect(await sql('select name from webhook_worker where alive')).toEqual([{ name: 'live' }]);
});

test('a freeze waits for the request of a worker that was suspended for longer than its lease', async () => {
  const receiver = await forTest(startReceiver());
  const suspended = Promise.withResolvers<void>();
  const proxy = await startConnectProxy({
    status() {
      system.apps['webhook-worker'].kill('SIGSTOP');
      suspended.resolve();
      // The worker finds the answer before its timers when it goes on.
      return 200;
    },
  });
  onTestFinished(() => proxy.close());
  const worker = { WORKER_LEASE_MS: '500', WEBHOOK_PROXY_URL: proxy.url };
  const t = await forTest(
    startTestSystem({ apps: ['customer-api', 'webhook-worker'], appEnv: { 'webhook-worker': worker } }),
  );
  const { accounts, database, customer, sql, system } = t;
  await subscribe(customer, { callbackUrl: receiver.url, eventTypes: [{ type: 'order.placed' }] });
  await sql(
    `insert into cell_split (from_cell, to_cell, organization_ids, standbys)
     select 0, 1, array[organization_id], '{}' from account where id = $1`,
    [accounts.customer.accountId],
  );
  await customer.request(PlaceDocument, { input: { item: 'Ada' } });
  await suspended.promise;
  const env = { DATABASE_URL: database.databaseUrl, OPERATOR_NAME: 'ops' };
  const freezing = callOperatorWith({ env }, 'cell', 'split', 'freeze', '--yes');
  await sleep(3_000);
  expect(await Promise.race([freezing, sleep(0, 'waits')])).toBe('waits');
  system.apps['webhook-worker'].kill('SIGCONT');
  expect(await freezing).toMatchObject({ exitCode: 0, stderr: '' });
  // What the worker has sent by now can arrive a little later. On a slow machine, the deadline of the attempt is over, and it sends nothing.
  await sleep(1_000);
  const { length: sent } = receiver.deliveries;
  await sleep(2_000);
  expect(receiver.deliveries).toHaveLength(sent);
});
