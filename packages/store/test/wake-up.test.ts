import { setTimeout as sleep } from 'node:timers/promises';
import { terminateBackends, type TestDatabase } from '@deedwire/embedded-postgres';
import { connect } from '@deedwire/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createListener, createNotifier, type Listener, type Notifier } from '../src/index.ts';
import { createMigratedDatabase } from './support/database.ts';

let database: TestDatabase;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  database = await createMigratedDatabase();
});

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

afterAll(async () => {
  await database.drop();
});

interface Heard {
  wakes: number;
  errors: unknown[];
}

function listen(databaseUrl = database.databaseUrl): Heard & { listener: Listener } {
  const heard: Heard = { wakes: 0, errors: [] };
  const listener = createListener({
    databaseUrl,
    applicationName: 'test-listen',
    onWake: () => (heard.wakes += 1),
    onError: (error) => heard.errors.push(error),
  });
  open.push(listener);
  return Object.assign(heard, { listener });
}

function notifierWith(errors: unknown[] = []): Notifier {
  const { databaseUrl } = database;
  const notifier = createNotifier({
    databaseUrl,
    applicationName: 'test-notify',
    onError: (error) => errors.push(error),
  });
  open.push(notifier);
  return notifier;
}

/** Generous: how long to wait for what has to come. */
const patience = { timeout: 20_000, interval: 5 };
const wakes = (heard: Heard, count: number) => expect.poll(() => heard.wakes, patience).toBe(count);

test('every listener hears a notification', async () => {
  const heard = [listen(), listen()];
  for (const each of heard) await wakes(each, 1);
  notifierWith().notify();
  for (const each of heard) await expect.poll(() => each.wakes, patience).toBe(2);
});

test('a login of an app may notify and listen', async () => {
  const heard = listen(await database.urlFor('webhook_worker'));
  await wakes(heard, 1);
  const databaseUrl = await database.urlFor('partner_api');
  const notifier = createNotifier({ databaseUrl, applicationName: 'test', onError: () => {} });
  open.push(notifier);
  notifier.notify();
  await expect.poll(() => heard.wakes, patience).toBe(2);
});

test('many calls become few notifications, and the last call is never lost', async () => {
  const heard = listen();
  await wakes(heard, 1);
  const notifier = notifierWith();
  for (let call = 0; call < 1_000; call += 1) notifier.notify();
  await expect.poll(() => heard.wakes, patience).toBeGreaterThanOrEqual(2);
  // While one is on its way the next is asked for: it has to follow.
  notifier.notify();
  const before = heard.wakes;
  await expect.poll(() => heard.wakes, patience).toBeGreaterThan(before);
  await notifier.close();
  expect(heard.wakes).toBeLessThanOrEqual(4);
});

test('what was asked for before closing is still sent, and no connection stays', async () => {
  const heard = listen();
  await wakes(heard, 1);
  const notifier = notifierWith();
  notifier.notify();
  await notifier.close();
  await wakes(heard, 2);
  const observer = await connect(database.databaseUrl);
  const connections = () => observer.run(`select from pg_stat_activity where application_name = 'test-notify'`);
  await expect.poll(connections, patience).toEqual([]);
  await observer.close();
});

test('a notifier that cannot connect says so, and closes', async () => {
  const errors: unknown[] = [];
  const notifier = createNotifier({
    databaseUrl: 'postgres://nobody@127.0.0.1:1/none',
    applicationName: 'test',
    onError: (error) => errors.push(error),
  });
  notifier.notify();
  await expect.poll(() => errors, patience).toHaveLength(1);
  notifier.notify();
  await expect.poll(() => errors, patience).toHaveLength(2);
  await notifier.close();
});

test('a notifier whose connection was ended opens another', async () => {
  const heard = listen();
  await wakes(heard, 1);
  const notifier = notifierWith();
  notifier.notify();
  await wakes(heard, 2);
  await terminateBackends(database.databaseUrl);
  await wakes(heard, 3);
  notifier.notify();
  await expect.poll(() => heard.wakes, patience).toBe(4);
});

test('a listener connects again, and wakes, because it may have missed something', async () => {
  const heard = listen();
  await wakes(heard, 1);
  for (const expected of [2, 3]) {
    await terminateBackends(database.databaseUrl);
    await wakes(heard, expected);
  }
  expect(heard.errors).toHaveLength(2);
});

test('a listener that is closed stays closed, whenever that is', async () => {
  const early = listen();
  await early.listener.close();

  const late = listen();
  await wakes(late, 1);
  await terminateBackends(database.databaseUrl);
  await expect.poll(() => late.errors, patience).toHaveLength(1);
  await late.listener.close();

  const observer = await connect(database.databaseUrl);
  await sleep(300);
  expect(await observer.run(`select pid from pg_stat_activity where application_name = 'test-listen'`)).toEqual([]);
  await observer.close();
});
