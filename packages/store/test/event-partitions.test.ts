import { testService } from '@deedwire/core/test-service';
import { connect, type Connection, untilBlocked } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { migrate } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';

// No worker has run for long: the history has no partition for today.

const database = await forFile(createServiceDatabase());
const owner = await forFile(connect(database.databaseUrl));
await migrate(database.databaseUrl, testService);
await owner.run(`
  select create_account('customer', 'c-1', 'Ada'), create_account('customer', 'c-2', 'Bo');
  create table shop_order (id int primary key, status text);
  insert into shop_order values (1, 'OPEN'), (2, 'OPEN')`);

const partitions = async (): Promise<string[]> =>
  (
    await owner.run(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'webhook_event'::regclass order by 1`,
    )
  ).map(({ name }) => String(name));

const snapshot = JSON.stringify({ order: { id: '1', item: 'Tea', note: null }, placedAt: '2026-11-03T09:30:00.000Z' });
const append = (session: Connection, account = 'c-1') =>
  session.run(`select append_event('order.placed', $1, $2)`, [account, snapshot]);
const queued = async () => (await owner.run('select count(*)::int from webhook_event_queue'))[0]?.['count'];
const update = (session: Connection, id: number) =>
  session.run(`update shop_order set status = 'PAID' where id = $1`, [id]);

const open = (): Promise<Connection> => forTest(connect(database.databaseUrl));

beforeEach(async () => {
  for (const name of await partitions()) await owner.run(`drop table ${name}`);
  await owner.run('delete from webhook_event_queue');
});

test('the first event creates the partitions of its day and the next one, and no others', async () => {
  await append(owner);
  const days = await owner.run(
    `select 'webhook_event_' || to_char((clock_timestamp() at time zone 'UTC')::date + day, 'YYYYMMDD') as name from generate_series(0, 1) day`,
  );
  expect(await partitions()).toEqual(days.map(({ name }) => name));
});

test('a transaction that creates them and is rolled back leaves the next one to create them', async () => {
  const [one, other] = [await open(), await open()];
  await one.run('begin; savepoint s');
  await append(one);
  await one.run('rollback to savepoint s');
  await append(one);
  const waiting = append(other);
  await untilBlocked(owner, 1);
  await one.run('rollback');
  await waiting;
  expect(await queued()).toBe(1);
  expect(await partitions()).toHaveLength(2);
});

test('of two transactions that each need a row of the other, one creates them, and the other is to be repeated', async () => {
  const [one, other] = [await open(), await open()];
  // PostgreSQL looks for a deadlock once in each wait, so that the other one finds it, if this takes no longer.
  await one.run(`set deadlock_timeout = '5min'; begin`);
  await other.run(`set deadlock_timeout = '2s'; begin`);
  await update(one, 1);
  await update(other, 2);
  await append(one);
  const refused = append(other, 'c-2');
  await untilBlocked(owner, 1);
  const updated = update(one, 2);
  await expect(refused).rejects.toMatchObject({ code: '40001', hint: 'Repeat the transaction.' });
  await other.run('rollback');
  await updated;
  await one.run('commit');
  await other.run('begin');
  await update(other, 2);
  await append(other, 'c-2');
  await other.run('commit');
  expect(await queued()).toBe(2);
});

test('two transactions that change accounts and then append wait for one another without a deadlock', async () => {
  const [one, other] = [await open(), await open()];
  const changes = [
    (session: Connection, account: string) =>
      session.run(`select create_portal_link('customer', $1, 'user-1')`, [account]),
    (session: Connection, account: string) =>
      session.run(`select create_account('customer', $1 || '-x', 'Ada')`, [account]),
    (session: Connection, account: string) => session.run(`select create_api_key('customer', $1, 'Shop')`, [account]),
  ];
  for (const change of changes) {
    for (const name of await partitions()) await owner.run(`drop table ${name}`);
    await one.run('begin');
    await change(one, 'c-1');
    const second = (async () => {
      await other.run('begin');
      await change(other, 'c-2');
      await append(other, 'c-2');
      await other.run('commit');
    })();
    await untilBlocked(owner, 1);
    await append(one);
    await one.run('commit');
    await second;
  }
  expect(await queued()).toBeGreaterThanOrEqual(2 * changes.length);
});
