import { setTimeout as sleep } from 'node:timers/promises';
import { terminateBackends } from '@deedwire/embedded-postgres';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterEach, describe, expect, test } from 'vitest';
import { insertOrganization } from '../src/accounts/accounts.ts';
import { createStore, type Store } from '../src/index.ts';
import { createListener, type Listener } from '../src/notifications/listener.ts';
import { createNotifier, type Notifier } from '../src/notifications/notifier.ts';
import { createServiceDatabase } from './support/database.ts';
import { seedAccount } from './support/seed.ts';

const open: { close(): Promise<void> }[] = [];

const database = await forFile(createServiceDatabase());

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

interface Heard {
  /** Null when listening started. */
  payloads: (string | null)[];
  errors: unknown[];
}

function listen(databaseUrl = database.databaseUrl): Heard & { listener: Listener } {
  const heard: Heard = { payloads: [], errors: [] };
  const listener = createListener({
    databaseUrl,
    applicationName: 'test-listen',
    onWake: (payload) => heard.payloads.push(payload),
    onError: (error) => heard.errors.push(error),
  });
  open.push(listener);
  return Object.assign(heard, { listener });
}

function notifierWith(errors: unknown[] = [], databaseUrl = database.databaseUrl): Notifier {
  const notifier = createNotifier({
    databaseUrl,
    applicationName: 'test-notify',
    onError: (error) => errors.push(error),
  });
  open.push(notifier);
  return notifier;
}

const patience = { timeout: 60_000, interval: 5 };
const wakes = (heard: Heard, count: number) => expect.poll(() => heard.payloads.length, patience).toBe(count);

function openStore(directUrl?: string): Store {
  const store = createStore({ databaseUrl: database.databaseUrl, directUrl, applicationName: 'test' });
  open.push(store);
  return store;
}

/** Sends a last notification, waits for it, and returns the payloads before it. */
async function drained(heard: Heard): Promise<readonly (string | null)[]> {
  notifierWith().notify('last');
  await expect.poll(() => heard.payloads, patience).toContain('last');
  return heard.payloads.filter((payload) => payload !== 'last');
}

/** Waits until the server has no session of the application. */
async function expectNoSession(applicationName: string): Promise<void> {
  const observer = await connect(database.databaseUrl);
  const sessions = () => observer.run(`select from pg_stat_activity where application_name like $1`, [applicationName]);
  await expect.poll(sessions, patience).toEqual([]);
  await observer.close();
}

describe('a store', () => {
  test('notifies after the commit, and not before', async () => {
    const store = openStore();
    const heard = listen();
    await wakes(heard, 1);
    await store.transaction(async (transaction) => {
      transaction.notifyAfterCommit();
      await sleep(50);
      expect(heard.payloads).toEqual([null]);
    });
    await wakes(heard, 2);
    expect(await drained(heard)).toEqual([null, '']);
  });

  test('does not notify after a rollback, or when the transaction leaves no work', async () => {
    const store = openStore();
    const heard = listen();
    await wakes(heard, 1);
    const thrown = new Error('rolled back');
    const rolledBack = store.transaction(async (transaction) => {
      transaction.notifyAfterCommit();
      throw thrown;
    });
    await expect(rolledBack).rejects.toBe(thrown);
    await store.transaction((transaction) => seedAccount(transaction, 'customer'));
    await store.close();
    open.splice(open.indexOf(store), 1);
    expect(await drained(heard)).toEqual([null]);
  });

  test('does not notify when PostgreSQL responds to COMMIT with ROLLBACK', async () => {
    const store = openStore();
    const heard = listen();
    await wakes(heard, 1);
    const swallowed = store.transaction(async (transaction) => {
      await insertOrganization(transaction, 'Rolled back');
      transaction.notifyAfterCommit();
      await transaction.query({ name: 'broken', text: 'select 1 / 0' }, []).catch(() => {});
    });
    await expect(swallowed).rejects.toThrow('The transaction was rolled back');
    expect(await drained(heard)).toEqual([null]);
    const organizations = { name: 'organizations', text: `select from organization where name = 'Rolled back'` };
    expect(await store.query(organizations, [])).toEqual([]);
  });

  test('sends each payload of a transaction once', async () => {
    const store = openStore();
    const heard = listen();
    await wakes(heard, 1);
    await store.transaction(async (transaction) => {
      for (const shard of ['7', '3', '7']) transaction.notifyAfterCommit(shard);
    });
    await wakes(heard, 3);
    expect(new Set(heard.payloads.slice(1))).toEqual(new Set(['3', '7']));
  });

  test('sends notifications on the direct connection', async () => {
    const heard = listen();
    await wakes(heard, 1);
    const url = new URL(database.databaseUrl);
    url.searchParams.set('application_name', 'direct');
    const store = openStore(url.href);
    await store.transaction(async (transaction) => transaction.notifyAfterCommit());
    await wakes(heard, 2);
    const observer = await connect(database.databaseUrl);
    const rows = await observer.run(`select application_name from pg_stat_activity where query like '%pg_notify%'`);
    expect(rows).toContainEqual({ application_name: 'direct' });
    await observer.close();
  });

  test('close() waits until the last notification has been sent', async () => {
    const heard = listen();
    await wakes(heard, 1);
    const store = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test-close' });
    await store.transaction(async (transaction) => transaction.notifyAfterCommit());
    await store.close();
    await expect.poll(() => heard.payloads, patience).toEqual([null, '']);
    await expectNoSession('test-close%');
  });
});

describe('a notifier', () => {
  test('reaches every listener', async () => {
    const heard = [listen(), listen()];
    for (const each of heard) await wakes(each, 1);
    notifierWith().notify('');
    for (const each of heard) await expect.poll(() => each.payloads, patience).toEqual([null, '']);
  });

  test('sends few notifications for many calls, and never loses the last call', async () => {
    const heard = listen();
    await wakes(heard, 1);
    const notifier = notifierWith();
    for (let call = 0; call < 1_000; call += 1) notifier.notify('');
    await expect.poll(() => heard.payloads.length, patience).toBeGreaterThanOrEqual(2);
    // This call comes while a notification is being sent: another one has to follow.
    notifier.notify('');
    const before = heard.payloads.length;
    await expect.poll(() => heard.payloads.length, patience).toBeGreaterThan(before);
    await notifier.close();
    expect(heard.payloads.length).toBeLessThanOrEqual(4);
  });

  test('sends what is waiting before it closes, and keeps no connection', async () => {
    const heard = listen();
    await wakes(heard, 1);
    const notifier = notifierWith();
    notifier.notify('');
    await notifier.close();
    await expect.poll(() => heard.payloads, patience).toEqual([null, '']);
    await expectNoSession('test-notify');
  });

  test('reports that it cannot connect, and closes', async () => {
    const errors: unknown[] = [];
    const notifier = notifierWith(errors, 'postgres://nobody@127.0.0.1:1/none');
    notifier.notify('');
    await expect.poll(() => errors, patience).toHaveLength(1);
    notifier.notify('');
    await expect.poll(() => errors, patience).toHaveLength(2);
    await notifier.close();
  });

  test('opens another connection after the first was terminated', async () => {
    const heard = listen();
    await wakes(heard, 1);
    const notifier = notifierWith();
    notifier.notify('');
    await wakes(heard, 2);
    await terminateBackends(database.databaseUrl);
    await wakes(heard, 3);
    await expectNoSession('test-notify');
    notifier.notify('');
    await expect.poll(() => heard.payloads, patience).toEqual([null, '', null, '']);
  });
});

describe('a listener', () => {
  test('reconnects, and wakes because it may have missed a notification', async () => {
    const heard = listen();
    await wakes(heard, 1);
    for (const expected of [2, 3]) {
      await terminateBackends(database.databaseUrl);
      await wakes(heard, expected);
    }
    expect(heard.payloads).toEqual([null, null, null]);
    expect(heard.errors).toHaveLength(2);
  });

  test('stays closed, whether it is closed while connecting, listening or waiting to reconnect', async () => {
    const early = listen();
    await early.listener.close();

    const late = listen();
    await wakes(late, 1);
    await terminateBackends(database.databaseUrl);
    await expect.poll(() => late.errors, patience).toHaveLength(1);
    await late.listener.close();

    await sleep(300); // until it would have reconnected
    await expectNoSession('test-listen');
  });
});
