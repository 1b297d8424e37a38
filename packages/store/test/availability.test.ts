import { startPostgres, terminateBackends, type PostgresServer } from '@deedwire/embedded-postgres';
import { connect, eventually } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStore, StoreUnavailableError, type Store } from '../src/index.ts';
import { createListener } from '../src/listener.ts';
import { createNotifier } from '../src/notifier.ts';

// A server of its own: it is stopped and restarted.
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server.stop();
});

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

/** Until a statement of this store is running. */
async function untilRunning(text: string): Promise<void> {
  const observer = await connect(server.url);
  await eventually(async () => {
    expect(
      await observer.run(`select from pg_stat_activity where state = 'active' and query = $1`, [text]),
    ).not.toHaveLength(0);
  });
  await observer.close();
}

test.each(['fast', 'immediate'] as const)('the process survives a %s restart, and so does the store', async (mode) => {
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
    // The third connection broke while it was idle.
    expect(errors.length).toBeGreaterThan(0);
  });
});

test('a backend that is terminated between two statements of a transaction is unavailable, not a bug', async () => {
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

test('a server that is not there is unavailable', async () => {
  const store = createStore({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none', applicationName: 'test' });
  await expect(store.query(selectOne, [])).rejects.toThrow(StoreUnavailableError);
  await expect(store.transaction(async () => {})).rejects.toThrow(StoreUnavailableError);
  await store.close();
});

test('a server at its connection limit is unavailable until there is room', async () => {
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

test('a login that the server refuses is unavailable until it is accepted', async () => {
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

test('a database that is not there is unavailable', async () => {
  const store = createStore({ databaseUrl: `${server.url}_of_nobody`, applicationName: 'test' });
  await expect(store.query(selectOne, [])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: '3D000' });
  await store.close();
});

test('an exhausted pool is unavailable before the caller loses patience', async () => {
  await withStore(async (store) => {
    await store.transaction(async () => {
      await expect(store.query(selectOne, [])).rejects.toThrow(StoreUnavailableError);
    });
    expect(await store.query(selectOne, [])).toEqual([{ one: 1 }]);
  }, 1);
});

test('what is wrong with a statement is the error itself, and rolls back', async () => {
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

test('conflicts that the next try does not meet are unavailable', async () => {
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
    for (const state of ['40001', '40P01', '53100', '53200', '57P01', '25006', '25P03', '25P04']) {
      await expect(raise(state)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', cause: { code: state } });
    }
    for (const state of ['23505', '42501', '22P02', '57014', 'XX000']) {
      await expect(raise(state)).rejects.toMatchObject({ code: state });
    }
  });
});

test('a transaction that idles is ended by the server, so that no lock outlives its process', async () => {
  const timeout = { name: 'timeout', text: `select current_setting('idle_in_transaction_session_timeout') as value` };
  await withStore(async (store) => {
    await store.transaction(async (transaction) => {
      expect(await transaction.query(timeout, [])).toEqual([{ value: '10s' }]);
    });
    expect(await store.query(timeout, [])).toEqual([{ value: '0' }]);
  }, 1);
});

test('a listener and a notifier find back after a restart', async () => {
  let wakes = 0;
  const errors: unknown[] = [];
  const options = { databaseUrl: server.url, applicationName: 'test', onError: (error: unknown) => errors.push(error) };
  const listener = createListener({ ...options, onWake: () => (wakes += 1) });
  const notifier = createNotifier(options);
  await eventually(() => expect(wakes).toBe(1));
  notifier.notify('');
  await eventually(() => expect(wakes).toBe(2));

  await server.restart('immediate');
  // Listening again is itself a reason to look: some may have been missed.
  await eventually(() => expect(wakes).toBe(3));
  notifier.notify('');
  await eventually(() => expect(wakes).toBe(4));
  expect(errors.length).toBeGreaterThan(0);
  await notifier.close();
  await listener.close();
});
