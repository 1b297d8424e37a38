import { testService } from '@deedwire/core/test-service';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { createStore, LockTimeoutError, type Store, StoreUnavailableError } from '@deedwire/store';
import { connect, type Connection, eventually } from '@deedwire/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkDatabaseOfApps } from '../../src/check-database.ts';
import type { RetentionEvent } from '../../src/events.ts';
import { createRetention, type Retention, type RetentionOptions } from '../../src/retention/retention.ts';
import { createPartitions, keepPartitions, readDaysAhead } from '../../src/retention/sql/partitions.ts';
import { hold } from '../dispatch-storage/support.ts';
import { createServiceDatabase } from '../support/seed.ts';

let database: TestDatabase;
let workerUrl: string;
let store: Store;
let superuser: Connection;
let events: RetentionEvent[];
let running: Retention[];
/** The delays of the timers that were set. No timer fires. */
let delaysMs: number[];

const onEvent = (event: RetentionEvent): void => void events.push(event);
const dropPartitions = (daysAhead: number): Promise<unknown> =>
  superuser.run(`
    do $$
    declare
      name text;
    begin
      for name in
        select relname from pg_class
        where relname ~ '^webhook_.*_\\d{8}$' and relkind = 'r' and right(relname, 8) > to_char(now() + interval '${daysAhead} days', 'YYYYMMDD')
      loop
        execute format('drop table %I', name);
      end loop;
    end
    $$`);

function create(options: Partial<RetentionOptions> = {}): Retention {
  const clock = {
    setTimer: (_: () => void, delayMs: number) => {
      delaysMs.push(delayMs);
      return () => {};
    },
  };
  const retention = createRetention({
    store,
    directUrl: workerUrl,
    retentionDays: { history: 30, exchanges: 7, replays: 90 },
    clock,
    onEvent,
    ...options,
  });
  running.push(retention);
  return retention;
}

const untilNextRun = (delayMs: number): Promise<void> => eventually(() => expect(delaysMs).toContain(delayMs));

beforeEach(async () => {
  database = await createServiceDatabase();
  workerUrl = await database.urlFor('webhook_worker');
  store = createStore({ databaseUrl: workerUrl, applicationName: 'test' });
  superuser = await connect(database.databaseUrl);
  [events, running, delaysMs] = [[], [], []];
});

afterEach(async () => {
  for (const retention of running) await retention.stop();
  await store.close();
  await superuser.close();
  await database.drop();
});

test('creates partitions for 60 days, which belong to the owner of the database', async () => {
  await keepPartitions(store, onEvent);
  expect(await readDaysAhead(store)).toBeGreaterThanOrEqual(59);
  expect(events).toEqual([{ kind: 'partitions-created', daysAhead: expect.any(Number) }]);
  const owners = await superuser.run(
    `select distinct tableowner as owner from pg_tables where tablename ~ '^webhook_(event|payload|delivery|attempt)_[0-9]+$'`,
  );
  expect(owners).toEqual([{ owner: 'postgres' }]);
});

test('an alarm reports that partitions cannot be created and become short', async () => {
  await dropPartitions(9);
  const unlock = await hold(database.databaseUrl, 'lock table webhook_delivery in share update exclusive mode');
  await expect(keepPartitions(store, onEvent)).rejects.toBeInstanceOf(LockTimeoutError);
  await unlock();
  expect(events).toEqual([{ kind: 'partitions-short', alarm: true, daysAhead: expect.any(Number) }]);
});

const problems = async (): Promise<string[]> =>
  (await checkDatabaseOfApps(store, testService, 'webhook_worker')).problems;

test('is not ready under two days ahead, until partitions are created', async () => {
  await dropPartitions(0);
  expect(await problems()).toEqual([expect.stringContaining('The webhook history has ')]);
  await store.transaction((transaction) => createPartitions(transaction, 3));
  expect(await problems()).toEqual([]);
});

test('is ready without partitions for the details of attempts, and creates them', async () => {
  await keepPartitions(store, onEvent);
  const names = await superuser.run(
    `select relname as name from pg_class where relname ~ '^webhook_exchange_[0-9]+$' and relkind = 'r'`,
  );
  expect(names.length).toBeGreaterThan(60);
  for (const { name } of names) await superuser.run(`drop table ${String(name)}`);
  expect(await problems()).toEqual([]);
  expect(await readDaysAhead(store)).toBe(-1);
  await keepPartitions(store, onEvent);
  expect(await readDaysAhead(store)).toBeGreaterThanOrEqual(59);
});

test('runs at once and then every hour, and stops while it waits', async () => {
  // A clock of this machine that is ahead expires nothing early.
  const retention = create({ machineNowMs: () => Date.now() + 365 * 86_400_000 });
  retention.start();
  await untilNextRun(3_600_000);
  await retention.stop();

  expect(events).toEqual([{ kind: 'partitions-created', daysAhead: expect.any(Number) }]);
  const early = await superuser.run(
    `select from webhook_retention
     where expired_before > (date_part('epoch', now() - interval '30 days') * 1000 - 1767225600000)::bigint << 22`,
  );
  expect(early).toEqual([]);
});

test('one worker at a time runs it', async () => {
  const unlock = await hold(workerUrl, 'lock table webhook_retention in share update exclusive mode');
  create().start();
  await untilNextRun(3_600_000);
  expect(events).toEqual([]);
  await unlock();
});

test('reports a failed run and retries it after a minute', async () => {
  create({ directUrl: 'postgres://nobody@127.0.0.1:1/none' }).start();
  await untilNextRun(60_000);
  expect(events).toEqual([{ kind: 'retention-failed', error: expect.any(StoreUnavailableError) }]);
});
