import { testService } from '@deedwire/core/test-service';
import { createStore, onlyRow } from '@deedwire/store';
import { eventually } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterAll, expect, test } from 'vitest';
import { createWebhookEngine } from '../src/engine.ts';
import type { EngineEvent } from '../src/events.ts';
import { shardOf } from '../src/kernel/ids.ts';
import { createWorkerStore } from './dispatch-storage/support.ts';
import { createServiceDatabase, seedAccount, seedEvents, seedSubscription } from './support/seed.ts';
import { setTimer } from './support/set-timer.ts';

const acquired = Promise.withResolvers<void>();
const alarms: EngineEvent[] = [];
const connections = 10;

/** An engine that does not poll. */
const database = await forFile(createServiceDatabase());
const store = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const directUrl = await database.urlFor('webhook_worker');
const workerStore = await forFile(createWorkerStore(directUrl, { maxConnections: connections }));
const engine = createWebhookEngine({
  store: workerStore,
  fanOutStore: workerStore,
  renewalStore: workerStore,
  directUrl,
  name: 'test',
  clock: { nowMs: () => Date.now(), setTimer },
  random: Math.random,
  renderer: { knowsType: () => true, knows: () => true, render: () => Buffer.from('{}') },
  send: () => Promise.reject(new Error('No delivery is expected.')),
  openSecret: () => null,
  retiredVersions: () => [],
  slots: 16,
  leaseMs: 3_600_000,
  pollMs: 0,
  retentionDays: 30,
  exchangeRetentionDays: 7,
  replayRetentionDays: 90,
  onEvent(event) {
    if (event.kind === 'shards-acquired') acquired.resolve();
    if ('alarm' in event) alarms.push(event);
  },
});
await engine.start();
await acquired.promise;

afterAll(async () => {
  await engine.drain();
});

const queued = () => store.query({ name: 'test-queued', text: 'select from webhook_event_queue' }, []);

test.each<[string, (shard: number) => string | null]>([
  // First, because a shard is read once after it was acquired.
  ['its number', String],
  ['an empty payload', () => ''],
  ['null', () => null],
])('%s wakes the shard of an event', async (_, payloadOf) => {
  const account = await seedAccount(store);
  const shard = shardOf(account.id);
  await store.transaction((transaction) => seedEvents(transaction, account, 1));
  expect(await queued()).toHaveLength(1);
  engine.wake(payloadOf(shard));
  await eventually(async () => expect(await queued()).toEqual([]));
});

test('has planned the statements of fan-out on four connections', async () => {
  const all = [
    'fan-out-read-accounts',
    'fan-out-read-events',
    'fan-out-read-queue',
    'fan-out-write-round',
    'fan-out-write-round-with-exceptions',
    'read-pins',
  ];
  const prepared = `
    select array_agg(rtrim(name, '+') order by name) as names
    from pg_prepared_statements
    where rtrim(name, '+') = any($1) and generic_plans > 0`;
  const holding = Promise.withResolvers<void>();
  let held = 0;
  const namesOfEach = await Promise.all(
    Array.from({ length: connections }, () =>
      workerStore.transaction(async (transaction) => {
        const rows = await transaction.query<{ names: string[] | null }>({ name: 'prepared', text: prepared }, [all]);
        held += 1;
        if (held === connections) holding.resolve();
        // Each transaction has its own connection until all have one.
        await holding.promise;
        return onlyRow(rows).names;
      }),
    ),
  );
  expect(namesOfEach.filter((names) => names?.join() === all.join()).length).toBeGreaterThanOrEqual(4);
});

test('a worker must not start while a sequence is behind the rows', async () => {
  expect(await engine.problems(testService)).toEqual([]);
  const account = await seedAccount(store);
  const subscription = await store.transaction((transaction) => seedSubscription(transaction, account));
  const set = (position: number) =>
    store.query({ name: 'test-position', text: 'update webhook_subscription set queue_position = $2 where id = $1' }, [
      subscription,
      position,
    ]);
  await set(1_000_000);
  const problem = expect.stringMatching(
    /^The sequence webhook_queue_position is at \d+, but .* contain 1000000\. Run `deedwire-operator database advance-sequences`\.$/,
  );
  expect(await engine.problems(testService)).toEqual([problem]);
  expect(await engine.problems(testService)).toEqual([problem]);
  expect(alarms).toEqual([
    {
      kind: 'sequence-behind',
      alarm: true,
      sequence: 'webhook_queue_position',
      command: 'deedwire-operator database advance-sequences',
    },
  ]);
  await set(1);
  expect(await engine.problems(testService)).toEqual([]);
});
