import { freezeServer, startPostgres, terminateBackends } from '@deedwire/embedded-postgres';
import { connect, eventually, patientTimeouts } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { createStore, LockTimeoutError, requestTimeouts, StoreUnavailableError, type Store } from '../src/index.ts';
import { createListener } from '../src/notifications/listener.ts';
import { createNotifier } from '../src/notifications/notifier.ts';

// Not the server of the run, because the tests restart it.
const server = await forFile(startPostgres());

const selectOne = { name: 'one', text: 'select 1 as one' };
const selectSleep = { name: 'sleep', text: 'select pg_sleep(30)' };

async function withStore(work: (store: Store, errors: Error[]) => Promise<void>, maxConnections = 3): Promise<void> {
  const errors: Error[] = [];
  const store = createStore({
    databaseUrl: server.url,
    applicationName: 'test',
    maxConnections,
    onError: (error) => errors.push(error),
  });
  try {
    await work(store, errors);
  } finally {
    await store.close();
  }
}

/** Waits until the statement is running. */
async function untilRunning(text: string): Promise<void> {
  const observer = await connect(server.url);
  await eventually(async () => {
    expect(
      await observer.run(`select from pg_stat_activity where state = 'active' and query = $1`, [text]),
    ).not.toHaveLength(0);
  });
  await observer.close();
}

test.each(['fast', 'immediate'] as const)('the process and the store survive a %s restart', async (mode) => {
  await withStore(async (store, errors) => {
    await Promise.all([store.query(selectOne, []), store.query(selectOne, []), store.query(selectOne, [])]);
    const interrupted = Promise.allSettled([
      store.query(selectSleep, []),
      store.transaction(async (transaction) => {
        await transaction.query(selectOne, []);
        await transaction.query(selectSleep, []);
      }),
    ]);
    await untilRunning(selectSleep.text);
    await server.restart(mode);
    const unavailable = { status: 'rejected', reason: expect.any(StoreUnavailableError) };
    expect(await interrupted).toEqual([unavailable, unavailable]);
    expect(await eventually(() => store.query(selectOne, []))).toEqual([{ one: 1 }]);
    // The third connection was idle.
    expect(errors.length).toBeGreaterThan(0);
  });
});

test('reports StoreUnavailableError when a backend is terminated between two statements of a transaction', async () => {
  await withStore(async (store) => {
    const broken = store.transaction(async (transaction) => {
      await transaction.query(selectOne, []);
      await terminateBackends(server.url);
      await transaction.query(selectOne, []);
    });
    await expect(broken).rejects.toThrow(StoreUnavailableError);
    expect(await store.query(selectOne, [])).toEqual([{ one: 1 }]);
  });
});

test('keeps the connection of a statement that waited too long for a lock, so that the next one finds no lock of it', async () => {
  const holder = await connect(server.url);
  await holder.run(
    'create table counted (id int primary key, count int not null); insert into counted values (1, 0), (2, 0)',
  );
  await holder.run('begin; select from counted where id = 2 for update');
  const store = createStore({
    databaseUrl: server.url,
    applicationName: 'test',
    timeouts: { ...patientTimeouts, lockMs: 50 },
  });
  const pid = { name: 'pid', text: 'select pg_backend_pid() as pid' };
  const count = { name: 'count', text: 'update counted set count = count + 1' };
  const unlocked = { name: 'unlocked', text: 'select id from counted order by id for update skip locked' };
  const before = await store.query(pid, []);
  await expect(store.query(count, [])).rejects.toThrow(LockTimeoutError);
  expect(await store.query(unlocked, [])).toEqual([{ id: 1 }]);
  await expect(store.transaction((transaction) => transaction.query(count, []))).rejects.toThrow(LockTimeoutError);
  expect(await store.query(unlocked, [])).toEqual([{ id: 1 }]);
  expect(await store.query(pid, [])).toEqual(before);
  await store.close();
  await holder.close();
});

test('closes while the server does not respond', async () => {
  const store = createStore({ databaseUrl: server.url, applicationName: 'test' });
  await store.query(selectOne, []);
  await store.transaction(async (transaction) => transaction.notifyAfterCommit());
  const observer = await connect(server.url);
  await eventually(async () => {
    const sessions = await observer.run(`select from pg_stat_activity where application_name like 'test%'`);
    expect(sessions).toHaveLength(2);
  });
  await observer.close();
  const thaw = await freezeServer(server.url);
  try {
    await store.close();
  } finally {
    thaw();
  }
});

test('reports StoreUnavailableError when no server listens', async () => {
  const store = createStore({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none', applicationName: 'test' });
  await expect(store.query(selectOne, [])).rejects.toThrow(StoreUnavailableError);
  await expect(store.transaction(async () => {})).rejects.toThrow(StoreUnavailableError);
  await store.close();
});

test('reports StoreUnavailableError while the server is at its connection limit', async () => {
  const superuser = await connect(server.url);
  await superuser.run('create role limited login connection limit 1');
  await superuser.run(`alter role limited password 'x'`);
  const url = new URL(server.url);
  url.username = 'limited';
  url.password = 'x';
  const taken = await connect(url.href);
  const store = createStore({ databaseUrl: url.href, applicationName: 'test' });
  await expect(store.query(selectOne, [])).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    cause: { code: '53300' },
  });
  await taken.close();
  await eventually(() => store.query(selectOne, []));
  await store.close();
  await superuser.close();
});

test('reports StoreUnavailableError while the server rejects the login', async () => {
  const superuser = await connect(server.url);
  await superuser.run(`create role renewed login password 'old'`);
  const url = new URL(server.url);
  url.username = 'renewed';
  url.password = 'new';
  const store = createStore({ databaseUrl: url.href, applicationName: 'test' });
  await expect(store.query(selectOne, [])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: '28P01' });
  await superuser.run(`alter role renewed password 'new'`);
  expect(await store.query(selectOne, [])).toEqual([{ one: 1 }]);
  await store.close();
  await superuser.close();
});

test('reports StoreUnavailableError when the database does not exist', async () => {
  const store = createStore({ databaseUrl: `${server.url}_of_nobody`, applicationName: 'test' });
  await expect(store.query(selectOne, [])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: '3D000' });
  await store.close();
});

test('reports StoreUnavailableError for an exhausted pool within the connection timeout', async () => {
  await withStore(async (store) => {
    await store.transaction(async () => {
      await expect(store.query(selectOne, [])).rejects.toThrow(StoreUnavailableError);
    });
    expect(await store.query(selectOne, [])).toEqual([{ one: 1 }]);
  }, 1);
});

test('throws the error of an invalid statement unchanged, and rolls back', async () => {
  await withStore(async (store) => {
    await store.query({ name: 'create', text: 'create table kept (id int primary key)' }, []);
    const insert = { name: 'insert', text: 'insert into kept values (1)' };
    const failing = store.transaction(async (transaction) => {
      await transaction.query(insert, []);
      await transaction.query(insert, []);
    });
    await expect(failing).rejects.toMatchObject({ name: 'error', code: '23505' });
    const thrown = new Error('decided otherwise');
    await expect(
      store.transaction(async (transaction) => {
        await transaction.query(insert, []);
        throw thrown;
      }),
    ).rejects.toBe(thrown);
    expect(await store.query({ name: 'kept', text: 'select * from kept' }, [])).toEqual([]);
  });
});

test('reports StoreUnavailableError for failures that a retry can resolve, and not for others', async () => {
  await withStore(async (store) => {
    const raise = (state: string) => store.query({ name: `raise-${state}`, text: `select raise('${state}')` }, []);
    await store.query(
      {
        name: 'create-raise',
        text: `create function raise(state text) returns void language plpgsql
          as $$ begin raise exception using errcode = state; end $$`,
      },
      [],
    );
    for (const state of ['40001', '40P01', '53100', '53200', '55P03', '57014', '57P01', '25006', '25P03', '25P04']) {
      await expect(raise(state)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', cause: { code: state } });
    }
    for (const state of ['23505', '42501', '22P02', 'XX000']) {
      await expect(raise(state)).rejects.toMatchObject({ code: state });
    }
  });
});

const settings = {
  name: 'settings',
  text: `
    select name, setting
    from pg_settings
    where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')
    order by name`,
};
const configured = [
  { name: 'idle_in_transaction_session_timeout', setting: '10000' },
  { name: 'lock_timeout', setting: '1000' },
  { name: 'statement_timeout', setting: '1250' },
];

test('the server limits statements, locks and idle transactions of each connection, and behind a transaction pooler of each transaction', async () => {
  for (const directUrl of [undefined, server.url]) {
    const timeouts = requestTimeouts(2_500);
    const store = createStore({ databaseUrl: server.url, directUrl, applicationName: 'test', timeouts });
    await store.transaction(async (transaction) => {
      expect(await transaction.query(settings, [])).toEqual(configured);
    });
    expect(await store.query(settings, [])).toEqual(
      directUrl === undefined ? configured : configured.map(({ name }) => ({ name, setting: '0' })),
    );
    await store.close();
  }
});

test('reports StoreUnavailableError for a statement and a lock that take too long', async () => {
  const holder = await connect(server.url);
  await holder.run('create table held ()');
  await holder.run('begin; lock table held');
  const timeouts = { connectMs: 20_000, statementMs: 20_000, lockMs: 50, idleInTransactionMs: 20_000 };
  const options = { databaseUrl: server.url, applicationName: 'test', maxConnections: 1 };
  const impatient = createStore({ ...options, timeouts });
  const selectHeld = { name: 'held', text: 'select from held' };
  await expect(impatient.query(selectHeld, [])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: '55P03' });
  await holder.close();
  await impatient.close();

  const hasty = createStore({ ...options, timeouts: { ...timeouts, statementMs: 500 } });
  const problem = () => hasty.query(selectSleep, []).catch((error: unknown) => error);
  // On a busy machine, the client can give up before it reads what the server says.
  await expect.poll(problem).toMatchObject({ code: 'STORE_UNAVAILABLE', reason: '57014' });
  await hasty.close();
});

test('a listener and a notifier reconnect after a restart', async () => {
  let wakes = 0;
  const errors: unknown[] = [];
  const options = { databaseUrl: server.url, applicationName: 'test', onError: (error: unknown) => errors.push(error) };
  const listener = createListener({ ...options, onWake: () => (wakes += 1) });
  const notifier = createNotifier(options);
  await eventually(() => expect(wakes).toBe(1));
  notifier.notify('');
  await eventually(() => expect(wakes).toBe(2));

  await server.restart('immediate');
  // Listening again wakes too, because notifications may have been missed.
  await eventually(() => expect(wakes).toBe(3));
  notifier.notify('');
  await eventually(() => expect(wakes).toBe(4));
  expect(errors.length).toBeGreaterThan(0);
  await notifier.close();
  await listener.close();
});
