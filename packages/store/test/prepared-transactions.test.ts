import { testService } from '@deedwire/core/test-service';
import { connect } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { selectHomeReaders } from '../src/cells/cell-splits.ts';
import { migrate } from '../src/index.ts';
import { createServiceDatabase, withStore } from './support/database.ts';

// Two-phase commits of an application. Another coordinator than this one ends them, perhaps hours later.

const database = await forFile(createServiceDatabase());
const owner = await forFile(connect(database.databaseUrl));
await migrate(database.databaseUrl, testService);
await owner.run(`select create_account('customer', 'c-1', 'Ada')`);
const [{ max_prepared_transactions: prepared } = {}] = await owner.run('show max_prepared_transactions');

const name = new URL(database.databaseUrl).pathname.slice(1);
const snapshot = JSON.stringify({ order: { id: '1', item: 'Tea', note: null }, placedAt: '2026-11-03T09:30:00.000Z' });
const queued = async () => (await owner.run('select count(*)::int from webhook_event_queue'))[0]?.['count'];
const readers = () => withStore(database.databaseUrl, selectHomeReaders);

async function prepareAppend(): Promise<void> {
  const session = await forTest(connect(database.databaseUrl));
  await session.run('begin');
  await session.run(`select append_event('order.placed', 'c-1', $1)`, [snapshot]);
  await session.run(`prepare transaction '${name}'`);
}

const drop = async (): Promise<void> => {
  const left = await owner.run('select from pg_prepared_xacts where gid = $1', [name]);
  if (left.length > 0) await owner.run(`rollback prepared '${name}'`);
};

test.skipIf(prepared === '0')(
  'an event of a prepared transaction is there once it is committed, and not before',
  async () => {
    onTestFinished(drop);
    await prepareAppend();
    expect(await queued()).toBe(0);
    await owner.run(`rollback prepared '${name}'`);
    expect(await queued()).toBe(0);
    await prepareAppend();
    await owner.run(`commit prepared '${name}'`);
    expect(await queued()).toBe(1);
  },
);

test.skipIf(prepared === '0')('a freeze waits for a prepared transaction that has appended, and names it', async () => {
  onTestFinished(drop);
  await prepareAppend();
  expect(await readers()).toEqual([
    { transaction: expect.any(String), session: expect.stringMatching(`^prepared transaction ${name} since 2`) },
  ]);
  await owner.run(`commit prepared '${name}'`);
  expect(await readers()).toEqual([]);
});
