import type { LateWork } from '@deedwire/actions';
import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { freeze } from '../support/homes.ts';
import {
  insertAttempts,
  insertDelivery,
  insertPending,
  insertSubscription,
  type StoredSubscription,
} from '../support/stored-deliveries.ts';

const harness = await forFile(createHarness());
const { accounts, sql } = harness;
const env = { DATABASE_URL: await harness.database.urlFor('operator') };
const late = (...options: string[]) => callOperator(env, 'delivery', 'late', ...options);

/** A subscription whose first delivery is due since some seconds. */
async function subscribe(
  account: keyof typeof accounts,
  { dueFor, attempts = 0 }: { dueFor: number; attempts?: number },
): Promise<StoredSubscription & { delivery: string; deliveryId: bigint }> {
  const { interfaceName } = accounts[account];
  const subscription = await insertSubscription(harness, interfaceName, accounts[account]);
  const delivery = await insertDelivery(harness, subscription);
  await insertPending(harness, subscription, delivery, { attempts, dueInSeconds: -dueFor });
  await insertPending(harness, subscription, await insertDelivery(harness, subscription, { sequence: 2 }));
  return { ...subscription, delivery: delivery.gid, deliveryId: delivery.id };
}

/** Inserts the state of a receiver. */
const receiver = ({ id }: StoredSubscription, columns: string) =>
  sql(`insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes,
    failing_since, last_failed_delivery_id, breaker_open_until, hold_until) select ${id}, 1, ${columns}`);

test('says nothing is late when nothing is', async () => {
  expect(await late()).toEqual({ exitCode: 0, stdout: 'Nothing is late\n', stderr: '' });
});

test('lists what is late with the reasons of `delivery why`, first what the alert counts', async () => {
  const failing = await subscribe('customer', { dueFor: 900 });
  await insertAttempts(harness, failing, { id: failing.deliveryId, gid: '', eventId: 0n, sequence: 1 }, [503]);
  await receiver(failing, `12, 1, now() - interval '1 hour', ${failing.deliveryId}, now() + interval '1 hour', null`);
  const holding = await subscribe('customer', { dueFor: 800 });
  await receiver(holding, `0, 0, null, null, null, now() + interval '1 hour'`);
  const paused = await subscribe('customer', { dueFor: 700 });
  await sql(`update webhook_subscription set paused_reason = 'GONE', paused_at = now() where id = ${paused.id}`);
  const frozen = await subscribe('otherCustomer', { dueFor: 600 });
  await freeze(harness, [accounts.otherCustomer.accountId]);
  const slow = await subscribe('customer', { dueFor: 500 });
  const sent = await insertDelivery(harness, slow, { sequence: 3 });
  await insertAttempts(harness, slow, sent, [204]);
  await sql(`update webhook_attempt set duration_ms = 4900 where delivery_id = ${sent.id}`);
  const withoutWorker = await subscribe('supplier', { dueFor: 400 });
  await subscribe('customer', { dueFor: -60, attempts: 3 });
  // A worker serves the customer only.
  await sql(`insert into webhook_worker (name, leased_until) values ('w', now() + interval '1 hour')`);
  await sql(`update webhook_shard set worker_id = (select id from webhook_worker) where shard = $1`, [
    Number(BigInt(accounts.customer.accountId) & 63n),
  ]);

  const { subscriptions }: LateWork = JSON.parse((await late('--json')).stdout);
  const listed = subscriptions.map(({ subscriptionId, isUnexplained, delay, lastAttempt }) => [
    subscriptionId,
    isUnexplained,
    delay?.reason,
    lastAttempt?.responseStatus ?? null,
  ]);
  expect(listed).toEqual([
    [slow.gid, true, 'WAITING_FOR_TURN', 204],
    [withoutWorker.gid, true, 'NO_WORKER', null],
    [failing.gid, false, 'BREAKER_OPEN', 503],
    [holding.gid, false, 'RETRY_AFTER', null],
    [paused.gid, false, 'PAUSED', null],
    [frozen.gid, false, 'ACCOUNT_AWAY', null],
  ]);
  const why = JSON.parse((await callOperator(env, 'delivery', 'why', failing.delivery, '--json')).stdout);
  expect(subscriptions[2]?.delay).toEqual(why.delay);

  const first = await late('--limit', '1');
  expect(first.stdout).toMatch(/^subscription +reason +due since +last attempt +alert +account +delivery +until *$/m);
  expect(first.stdout).toMatch(new RegExp(`^${slow.gid} +WAITING_FOR_TURN .* HTTP 204 after 4900 ms +yes `, 'm'));
  expect(first.stdout).not.toContain(withoutWorker.gid);
});

test('lists the events that wait for their fan-out, and on what', async () => {
  const before = `new_record_id() - (60000::bigint << 22)`;
  const queue = (account: string, columns: string) =>
    sql(
      `insert into webhook_event_queue (account_id, interface, event_id, subscription_id, blocked_on)
       select id, interface, ${before}, ${columns} from account where id = $1`,
      [account],
    );
  await queue(accounts.customer.accountId, `null, null`);
  await queue(accounts.supplier.accountId, `null, 'supplier.renamed'`);
  const { events }: LateWork = JSON.parse((await late('--json')).stdout);
  expect(events).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ accountId: accounts.customer.id, reason: 'QUEUED', blockedOn: null }),
      expect.objectContaining({ accountId: accounts.supplier.id, reason: 'BLOCKED', blockedOn: 'supplier.renamed' }),
    ]),
  );
  expect((await late()).stdout).toMatch(/ BLOCKED on supplier\.renamed /);
});
