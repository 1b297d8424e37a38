import { setTimeout as sleep } from 'node:timers/promises';
import { testService } from '@deedwire/core/test-service';
import { connect, type Connection } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { DatabaseError } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { selectHomeReaders } from '../src/cells/cell-splits.ts';
import { migrate } from '../src/index.ts';
import { createServiceDatabase, withStore } from './support/database.ts';

const database = await forFile(createServiceDatabase());
const owner = await forFile(connect(database.databaseUrl));
await migrate(database.databaseUrl, testService);
await owner.run(`select create_account('customer', 'c-1', 'Ada'), create_account('customer', 'c-2', 'Bo')`);

const snapshot = JSON.stringify({ order: { id: '1', item: 'Tea', note: null }, placedAt: '2026-11-03T09:30:00.000Z' });
const append = (session: Connection) =>
  session.run(`select append_event('order.placed', 'c-1', $1)`, [snapshot]).then(() => 'appended', stateOf);
const stateOf = (error: unknown): string => (error instanceof DatabaseError ? (error.code ?? '') : String(error));

const freeze = `
  lock table account_home in share update exclusive mode;
  insert into account_home select id, 0, next_freeze() from account where external_id = 'c-1'`;
const unfreeze = 'delete from account_home';

const count = async (): Promise<number> =>
  Number((await owner.run('select count(*) from webhook_event'))[0]?.['count']);

/** Those that `cell split` waits for after a freeze. */
const selectReaders = (): Promise<unknown[]> => withStore(database.databaseUrl, selectHomeReaders);

/** The same for the session that freezes. */
const readersOf = async (session: Connection): Promise<unknown[]> =>
  (
    await session.run(
      `select virtualtransaction as id from pg_locks
       where relation = 'account_home'::regclass and mode <> 'SIReadLock' and pid <> pg_backend_pid()`,
    )
  ).map(({ id }) => id);

describe.each(['read committed', 'repeatable read', 'serializable'])('at %s', (level) => {
  let session: Connection;

  beforeEach(async () => {
    // A row of another account, so that no check ends before it reads homes.
    await owner.run(`insert into account_home select id, 0 from account where external_id = 'c-2'`);
    session = await connect(database.databaseUrl);
    await session.run(`begin isolation level ${level}; select from account`);
  });

  afterEach(async () => {
    await session.close();
    await owner.run(unfreeze);
  });

  test('an account that was frozen before the transaction is refused', async () => {
    await owner.run(`begin; ${freeze}; commit`);
    await session.run(`rollback; begin isolation level ${level}`);
    expect(await append(session)).toBe('ZH001');
  });

  test('an account that was frozen since the transaction began is refused', async () => {
    await owner.run(`begin; ${freeze}; commit`);
    expect(await append(session)).toBe(level === 'read committed' ? 'ZH001' : '40001');
  });

  test('an account that was frozen, and is not any longer, is refused to a snapshot from before, and to no other', async () => {
    await owner.run(`begin; ${freeze}; commit`);
    await owner.run(`delete from account_home where frozen_at is not null`);
    expect(await append(session)).toBe(level === 'read committed' ? 'appended' : '40001');
    await session.run(`rollback; begin isolation level ${level}`);
    expect(await append(session)).toBe('appended');
  });

  test('a freeze that is rolled back stops no later transaction', async () => {
    await owner.run(`begin; ${freeze}; rollback`);
    await session.run(`rollback; begin isolation level ${level}`);
    expect(await append(session)).toBe('appended');
  });

  test('a number of the server that a dump is from stops no transaction', async () => {
    await owner.run(`select setval('home_change', 4000000000000)`);
    expect(await append(session)).toBe('appended');
  });

  test('a freeze waits for a transaction that has appended', async () => {
    expect(await append(session)).toBe('appended');
    await owner.run(`begin; ${freeze}; commit`);
    expect(await selectReaders()).not.toEqual([]);
    await session.run('commit');
    expect(await selectReaders()).toEqual([]);
  });

  test('of 16 connections that append, none commits an event between a freeze and its end, and none is lost', async () => {
    const sessions = await Promise.all(Array.from({ length: 16 }, () => forTest(connect(database.databaseUrl))));
    const before = await count();
    let committed = 0;
    let isOver = false;
    const states = new Set<string>();
    const writers = sessions.map(async (each) => {
      while (!isOver) {
        // Long enough for a freeze between the snapshot and the event.
        await each.run(`begin isolation level ${level}; select from account; select pg_sleep(random() * 0.02)`);
        const state = await append(each);
        if (state !== 'appended') states.add(state);
        const end = state === 'appended' ? await each.run('commit').then(() => 'committed', stateOf) : 'refused';
        if (end === 'committed') committed += 1;
        else if (end === 'refused') await each.run('rollback');
        else states.add(end);
      }
    });
    const splitter = await forTest(connect(database.databaseUrl));
    for (let split = 0; split < 5; split += 1) {
      await splitter.run(`begin; ${freeze}; commit`);
      const open = await readersOf(splitter);
      await expect.poll(async () => (await readersOf(splitter)).filter((each) => open.includes(each))).toEqual([]);
      const frozen = await count();
      await sleep(30);
      expect(await count()).toBe(frozen);
      await splitter.run('delete from account_home where frozen_at is not null');
      await sleep(30);
    }
    isOver = true;
    await Promise.all(writers);
    expect(committed).toBeGreaterThan(16);
    expect((await count()) - before).toBe(committed);
    expect([...states].filter((state) => state !== 'ZH001' && state !== '40001')).toEqual([]);
  });
});
