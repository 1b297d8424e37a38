import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { terminateBackends } from '@deedwire/embedded-postgres';
import { startTcpProxy, type StatementFault } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { setClockBack } from '../support/faults/database-clock.ts';
import { startFaultSystem } from '../support/faults/fault-system.ts';
import { expectAllDelivered, windowMax } from '../support/faults/verdict-of.ts';
import { PlaceDocument } from '../support/webhook-operations.ts';

// One system, whose first worker reaches the database through a proxy. After each test, every event that was accepted so far
// must have been delivered: see `expectAllDelivered`.
const system = await startFaultSystem({ accounts: 3, leaseMs: 2_000 });
const { database } = system.t;
const workerProxy = await forFile(startTcpProxy(await database.urlFor('webhook_worker')));
const apiProxy = await forFile(startTcpProxy(await database.urlFor('customer_api')));
await forFile(system);
const [direct] = system.workers;
system.workers.unshift(await system.addWorker({ DATABASE_URL: workerProxy.url }));
await direct?.stop();
system.workers.pop();

test.each<StatementFault['when']>(['before', 'after'])(
  'writes an order and its event, or neither, when the API is killed %s it commits',
  async (when) => {
    const { accounts, accepted, apis, clientOf, observer } = system;
    const accountId = accounts[0]?.accountId ?? '';
    const { orders: before } = await rowsOf(accountId);
    const [working] = apis;
    const killed = await system.startApi({ DATABASE_URL: apiProxy.url });
    apis.splice(0, 1, killed);
    const isKilled = apiProxy.breakAt((statement) => statement === 'commit', {
      when,
      act() {
        killed.kill('SIGKILL');
        return killed.ended;
      },
    });
    const item = randomUUID();
    const variables = { input: { item, idempotencyKey: item } };
    const send = () =>
      clientOf(accountId)
        .send(PlaceDocument, variables)
        .catch(() => null);
    expect(await send()).toBeNull();
    await isKilled;
    if (working !== undefined) apis.splice(0, 1, working);

    const added = when === 'after' ? 1 : 0;
    expect(await rowsOf(accountId)).toEqual({ orders: before + added, events: before + added });

    // A client that repeats the request gets the order, and no second one. The claim of the killed API need not expire.
    await observer.run('update idempotency_key set claimed_until = now() where payload is null');
    let recordId: string | undefined;
    while (recordId === undefined) {
      recordId = (await send())?.data?.placeOrder.order?.id;
      if (recordId === undefined) await sleep(100);
    }
    await accepted.add({ accountId, recordId });
    expect(await rowsOf(accountId)).toEqual({ orders: before + 1, events: before + 1 });
    await expectAllDelivered(system, { accepted: 1, failures: new Set() });
  },
);

/** Each order has one event. */
async function rowsOf(accountId: string): Promise<{ orders: number; events: number }> {
  const [row] = await system.observer.run(
    `select (select count(*)::int from customer_order where account_id = $1) as orders,
       (select count(*)::int from webhook_event where account_id = $1 and event_type = 'order.placed') as events`,
    [accountId.split('/').at(-1)],
  );
  return { orders: Number(row?.['orders']), events: Number(row?.['events']) };
}

test('repeats nothing that was recorded when responses to statements of a worker are lost', async () => {
  const { interruptions, received } = system;
  const load = system.startLoad();
  await received.waitForMore(20);
  for (const name of ['fan-out-write-round', 'settle-successes']) {
    for (const when of ['before', 'after'] as const) {
      await workerProxy.breakAt((statement) => statement === name, { when, act: () => interruptions.record() });
      await received.waitForMore(20);
    }
  }
  const { delivered } = await expectAllDelivered(system, await load.stop());
  expect(delivered).toBeGreaterThan(80);
});

test('another worker takes over from one whose connections are half-open', async () => {
  const { received, workers } = system;
  workers.push(await system.addWorker());
  const load = system.startLoad();
  await received.waitForMore(50);
  workerProxy.hang();
  await received.waitForMore(100);
  // The worker goes on sending until it learns that it has lost its shards.
  const { delivered } = await expectAllDelivered(system, await load.stop(), 2 * windowMax * system.subscriptions.size);
  expect(delivered).toBeGreaterThan(100);
});

test('delivers every event when no notification arrives', async () => {
  const { t, observer } = system;
  await observer.run('revoke execute on function pg_catalog.pg_notify(text, text) from public');
  try {
    await terminateBackends(t.database.databaseUrl);
    const load = system.startLoad();
    await system.received.waitForMore(50);
    const { delivered } = await expectAllDelivered(system, await load.stop(), windowMax * system.subscriptions.size);
    expect(delivered).toBeGreaterThan(50);
  } finally {
    await observer.run('grant execute on function pg_catalog.pg_notify(text, text) to public');
  }
});

test('numbers without gaps when the clock of the database is set back', async () => {
  const { observer, received } = system;
  const load = system.startLoad();
  await received.waitForMore(20);
  await setClockBack(system.t.database.databaseUrl, '10 s');
  await received.waitForMore(100);
  const { delivered } = await expectAllDelivered(system, await load.stop(), windowMax * system.subscriptions.size);
  expect(delivered).toBeGreaterThan(100);
  const [ids] = await observer.run(`
    select count(*)::int as back from (
      select id < lag(id) over (partition by subscription_id order by sequence) as is_back from webhook_delivery
    ) d where is_back`);
  // The ids of deliveries went back, so the clock did, and the sequences still have no gap.
  expect(Number(ids?.['back'])).toBeGreaterThan(0);
});
