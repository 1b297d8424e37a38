import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Store } from '@deedwire/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Dispatcher } from '../../src/dispatch/dispatcher.ts';
import type { DispatchStorage } from '../../src/dispatch/storage.ts';
import { type Shard, shardCount } from '../../src/kernel/ids.ts';
import { openShards } from '../../src/open-shards.ts';
import { StorageWorld } from '../dispatch-storage/support.ts';

setFlagsFromString('--expose-gc');

const accounts = 10_000;
const lanesPerAccount = 100;
const lanes = accounts * lanesPerAccount;

let world: StorageWorld;
beforeAll(async () => {
  world = await StorageWorld.create();
  await world.admin.run(`
    insert into account (interface, organization_id, name)
    select 'customer', organization_id, 'Test' from account, generate_series(1, ${accounts - 1})`);
  await world.admin.run(
    `insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
     select id, interface, 'https://receiver.example', '', 1 from account, generate_series(1, ${lanesPerAccount})`,
  );
  await world.admin.run(
    `insert into webhook_pending_delivery
       (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
        due_at, body_bytes)
     select id, 1, account_id, interface, 1, 'order.placed', '2026-11-01', now(), 1, now(), 2
     from webhook_subscription`,
  );
  await world.admin.run('vacuum analyze');
}, 600_000);
afterAll(() => world.drop());

const pending = <Result>() => new Promise<Result>(() => {});

/** Never responds, so that what the process holds is the lanes. */
const silent: DispatchStorage = {
  refill: pending,
  walk: pending,
  targets: pending,
  settle: pending,
  countClaims: pending,
};

const collectGarbage: () => void = runInNewContext('gc');

const heapBytes = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

test('opens 1,000,000 lanes with a pending delivery each', async () => {
  const dispatcher = new Dispatcher({
    storage: silent,
    send: pending,
    clock: { nowMs: () => Date.now(), setTimer: () => () => {} },
    random: Math.random,
    onEvent: () => {},
    leaseMs: 15_000,
  });
  let slowestMs = 0;
  const query: Store['query'] = async (statement, values) => {
    const startedAtMs = performance.now();
    const rows = await world.store.query(statement, values);
    slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
    return rows as never;
  };
  const openedAtMs = new Map<Shard, number>();
  const heapBefore = heapBytes();
  const startedAtMs = performance.now();
  await openShards(
    {
      store: { query },
      clock: { setTimer: () => () => {} },
      dispatcher,
      onOpened: ({ shard }) => void openedAtMs.set(shard, performance.now() - startedAtMs),
      isOwned: () => true,
      onUnavailable(_, error) {
        throw error;
      },
      onResumed: () => {},
    },
    Array.from({ length: shardCount }, (_, shard) => ({ shard, isRecovering: false })),
  );
  const allMs = performance.now() - startedAtMs;
  const bytesPerLane = (heapBytes() - heapBefore) / lanes;
  process.stdout.write(
    `${Math.round(allMs)} ms, first shard ${Math.round(Math.min(...openedAtMs.values()))} ms, slowest statement ` +
      `${Math.round(slowestMs)} ms, ${Math.round(bytesPerLane)} bytes per lane\n`,
  );
  expect(dispatcher.stats().lanes).toBe(lanes);
  expect(openedAtMs.size).toBe(shardCount);
  expect(allMs).toBeLessThan(120_000);
  expect(slowestMs).toBeLessThan(8_000);
  expect(bytesPerLane).toBeLessThan(1_300);
}, 600_000);
