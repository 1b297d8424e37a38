import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { FanOutOptions } from '../../src/fan-out/fan-out.ts';
import { FanOutWorld, laterRenderer } from '../fan-out/fan-out-world.ts';
import { interceptStore } from '../fan-out/faulty-store.ts';
import { type SeededAccount, seedAccount } from '../support/seed.ts';

const blockedEntries = 1_000_000;
const entriesPerInsert = 20_000;

/** How long the event of another account may wait. Guards against hanging only: the test prints what it measures. */
const waitMaxMs = 60_000;

/** Adds one event of `account` after another until `isDone`, and prints how long each takes from the commit to `offer`. */
async function measure(
  world: FanOutWorld,
  name: string,
  account: SeededAccount,
  options: Partial<FanOutOptions>,
  isDone: (offeredOthers: number) => Promise<boolean>,
): Promise<void> {
  const counts = { offered: 0, offeredOthers: 0, queueReads: 0 };
  const waits: number[] = [];
  const startedAtMs = performance.now();
  const fanOut = world.start({
    ...options,
    store: interceptStore(world.workerStore, {
      async 'fan-out-read-queue'(run) {
        counts.queueReads += 1;
        return run();
      },
    }),
    offer(deliveries) {
      for (const { accountId } of deliveries) {
        if (accountId === account.id) counts.offered += 1;
        else counts.offeredOthers += 1;
      }
    },
    limits: { pollMs: 1_000 },
  });
  do {
    await world.addEvents(account, 1);
    const committedAtMs = performance.now();
    fanOut.wake(null);
    while (counts.offered <= waits.length) {
      expect(performance.now() - committedAtMs).toBeLessThan(waitMaxMs);
      await setTimeout(1);
    }
    waits.push(performance.now() - committedAtMs);
    await setTimeout(200);
  } while (!(await isDone(counts.offeredOthers)));
  const seconds = (performance.now() - startedAtMs) / 1_000;
  await fanOut.stop();
  const sorted = waits.toSorted((a, b) => a - b);
  process.stdout.write(
    `${name}: ${seconds.toFixed(0)} s, ${(counts.queueReads / seconds).toFixed(1)} reads of the queue per second, ` +
      `${waits.length} events of another account waited p50 ${sorted[sorted.length >> 1]?.toFixed(0)} ms, ` +
      `max ${sorted.at(-1)?.toFixed(0)} ms, ${Math.round(process.memoryUsage().heapUsed / 1e6)} MB of heap\n`,
  );
}

test('a million blocked events delay no other account, neither while they are blocked nor while they are delivered', async () => {
  const world = await FanOutWorld.create();
  const [account, other] = [await seedAccount(world.store), await seedAccount(world.store)];
  await world.subscribe(account, 'any', 'unknown.type');
  await world.subscribe(other, '2026-11-01');
  await world.addEvents(account, 1, 'unknown.type');
  for (let count = 1; count < blockedEntries; count += entriesPerInsert) {
    await world.rows(
      `insert into webhook_event_queue (account_id, interface, event_id)
       select account_id, interface, id from webhook_event, generate_series(1, $1::int)`,
      [Math.min(entriesPerInsert, blockedEntries - count)],
    );
  }
  const isBlocked = async (): Promise<boolean> => (await world.countBlocked()) === blockedEntries;
  await measure(world, 'Blocking', other, {}, isBlocked);
  let checks = 0;
  await measure(world, 'Restart', other, {}, async () => (checks += 1) > 100);
  await measure(world, 'Delivering', other, { render: laterRenderer }, async (offered) => offered === blockedEntries);
  expect(await world.countBlocked()).toBe(0);
});
