import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { testService } from '@deedwire/core/test-service';
import { createLogger } from '@deedwire/service-runtime';
import { createStore } from '@deedwire/store';
import { createServiceDatabase } from '@deedwire/store/test-support';
import { connect, eventually, startTcpProxy, untilBlocked } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { openUseRecord } from '../src/use/open-use-record.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
await superuser.run(`
  with organization as (insert into organization (name) values ('Harbour') returning id), account as (
    insert into account (interface, organization_id, name) select 'supplier', id, 'Northwind' from organization returning id
  )
  insert into api_client (account_id, interface, client_id, schema_version) select id, 'supplier', 'client', '2026-11-01' from account`);

/** A record that stores what it counts often, through a proxy, by a clock that a test can set. */
async function startRecord() {
  await superuser.run('delete from interface_use; delete from use_counting');
  const proxy = await startTcpProxy(await database.urlFor('supplier_api'));
  const store = createStore({ databaseUrl: proxy.url, applicationName: 'test' });
  const lines: string[] = [];
  const clock = { stepMs: 0 };
  const sent = { statements: 0 };
  const record = openUseRecord({
    process: { app: 'supplier-api', id: randomUUID() },
    database: {
      ...store,
      query: (...query) => {
        sent.statements += 1;
        return store.query(...query);
      },
    },
    logger: createLogger(
      { name: 'test', level: 'info', service: testService },
      { write: (line) => void lines.push(line) },
    ),
    coordinates: ['2026-11-01 Query.old'],
    everyMs: 50,
    nowMs: () => performance.now() + clock.stepMs,
  });
  onTestFinished(async () => {
    await record.close();
    await store.close();
    await proxy.close();
  });
  await record.start();
  const count = (times: number, coordinate = ''): void => {
    for (let time = 0; time < times; time += 1) record.count('client', '2026-11-01', coordinate);
  };
  return { proxy, store, record, lines, clock, sent, count };
}

const counted = async () => {
  const [row] = await superuser.run(
    `select coalesce(sum(count), 0)::int as count from interface_use where coordinate = ''`,
  );
  return row?.['count'];
};
const states = async () => {
  const rows = await superuser.run('select state from use_counting order by id');
  return rows.map(({ state }) => state);
};

test('stores counts in one period, which ends with the process', async () => {
  const { record, count } = await startRecord();
  count(3);
  await eventually(async () => expect(await counted()).toBe(3));
  count(4);
  await record.close();
  expect(await counted()).toBe(7);
  expect(await states()).toEqual(['ENDED']);
  const sets = 'select c.coordinates from use_counting u join counted_coordinates c on c.id = u.coordinates_id';
  expect(await superuser.run(sets)).toEqual([{ coordinates: '2026-11-01 Query.old' }]);
});

test('does not queue statements for a database that is slower than they come', async () => {
  const { record, sent, count } = await startRecord();
  await superuser.run('begin');
  await superuser.run('lock table use_counting');
  await untilBlocked(superuser);
  count(3);
  const { statements } = sent;
  await sleep(500);
  const closed = record.close();
  await superuser.run('commit');
  await closed;
  expect(sent.statements - statements).toBe(1);
  expect(await counted()).toBe(3);
  expect(await states()).toEqual(['ENDED']);
});

test('has a gap and not a smaller count while the database cannot be reached', async () => {
  const { proxy, store, lines, count } = await startRecord();
  count(3);
  await eventually(async () => expect(await counted()).toBe(3));
  // What is stored without a response is counted twice.
  await eventually(() => expect(store.poolState().inUse).toBe(0));
  await proxy.close();
  count(4);
  await eventually(() => expect(lines).toHaveLength(1));
  count(5);
  await proxy.open();
  await eventually(async () => expect(await counted()).toBe(12));
  expect(await states()).toEqual(['LOST', 'OPEN']);
  expect(lines).toEqual([expect.stringContaining('the use of versions cannot be stored')]);
});

test('has a gap and not a smaller count once a clock was set', async () => {
  const { clock, count } = await startRecord();
  count(3);
  await eventually(async () => {
    // While counts are sent, a step changes no time that is measured.
    clock.stepMs += 3_600_000;
    expect(await states()).toContain('LOST');
  });
  count(4);
  await eventually(async () => expect(await counted()).toBe(7));
});

test('has a gap and not a smaller count if more than 10,000 keys are used', async () => {
  const { record, count } = await startRecord();
  count(3);
  await eventually(async () => expect(await counted()).toBe(3));
  for (let key = 0; key < 10_001; key += 1) record.count(`client-${key}`, '2026-11-01', '');
  await eventually(async () => expect(await states()).toEqual(['ENDED', 'OVERFLOWED', 'OPEN']));
  count(4);
  await eventually(async () => expect(await counted()).toBe(7));
});
