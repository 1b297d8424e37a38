import { interfaceNamesOf } from '@deedwire/core';
import { connect, untilBlocked } from '@deedwire/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { withoutSample } from './support/tested-services.ts';

// Each test needs rows of an account of each interface, of which one is at home in another cell, and the others here.

const interfaceNames = interfaceNamesOf(withoutSample.service);

let run: (statement: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
let databaseUrl: string;

beforeEach(async () => {
  const database = await withoutSample.createDatabase();
  ({ databaseUrl } = database);
  const superuser = await connect(databaseUrl);
  onTestFinished(async () => {
    await superuser.close();
    await database.drop();
  });
  run = (statement, values) => superuser.run(statement, values);
  for (const interfaceName of interfaceNames)
    for (const { rowsOf, insert } of withoutSample.rows.values())
      if (insert !== null && rowsOf.includes(interfaceName) && !/into (\w+_home|cell_split)/.test(insert))
        await run(insert, [interfaceName]);
});

const leave = (interfaceName: string) =>
  run('insert into account_home select id, 1 from account where interface = $1', [interfaceName]);

async function only(statement: string): Promise<unknown> {
  const [row] = await run(`select ${statement} as result`);
  return row?.['result'];
}

/** Deletes what can be deleted of all tables. Returns what stays although it is foreign. */
async function deleteAll(): Promise<unknown[]> {
  const tables = await run('select name from foreign_tables()');
  const kept: unknown[] = [];
  for (const { name } of tables) {
    const [row] = await run(`select delete_foreign_rows($1, 0, 1000) ->> 'kept' as kept`, [name]);
    kept.push(...JSON.parse(String(row?.['kept'])));
  }
  return kept;
}

const rowsIn = async (tables: Iterable<string>): Promise<Record<string, unknown>> => {
  const counted = [...tables].map((table) => `(select count(*)::int from ${table}) as ${table}`);
  const [counts = {}] = await run(`select ${counted.join()}`);
  return counts;
};

test('deletes the rows of children before those of their parents, and of every table but these', async () => {
  const order = (await run('select distinct on (root) root, row_number() over () as at from foreign_tables()'))
    .toSorted((a, b) => Number(a['at']) - Number(b['at']))
    .map(({ root }) => String(root));
  expect(order[0]).toBe('webhook_event_queue');
  const tables = await run(
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  );
  expect(tables.map(({ name }) => String(name)).filter((name) => !order.includes(name))).toEqual([
    // They say who owns an id.
    'account',
    'account_home',
    'app_contracts',
    'app_migration',
    'app_process',
    'application_function',
    'audit_action',
    // It says what happened here.
    'audit_entry',
    'cell_split',
    'counted_coordinates',
    'event_type',
    'foreign_partition',
    'installation',
    'interface',
    'organization',
    'organization_home',
    'own_sequence',
    'own_table',
    'person_table',
    'schema_migration',
    'shared_policy',
    'shared_right',
    'use_counting',
    'webhook_retention',
    'webhook_shard',
    'webhook_worker',
  ]);
  const keys = await run(
    `select distinct conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint
     where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace and confrelid <> 'account'::regclass`,
  );
  const placed = keys.filter(({ parent }) => order.includes(String(parent)));
  expect(placed.length).toBeGreaterThan(8);
  expect(placed.filter(({ child, parent }) => order.indexOf(String(child)) >= order.indexOf(String(parent)))).toEqual(
    [],
  );
  // What no foreign key leads to, and what tells the account of a row.
  for (const [child, parent] of [
    ['webhook_payload', 'webhook_event'],
    ['webhook_attempt', 'webhook_subscription'],
    ['webhook_exchange', 'webhook_subscription'],
    ['order_line', 'customer_order'],
  ] as const)
    expect(order.indexOf(child)).toBeLessThan(order.indexOf(parent));
});

test.each(interfaceNames)('deletes every row of a %s of another cell, and no other', async (foreign) => {
  await leave(foreign);
  const tables = [...withoutSample.rows].filter(([, { isChild }]) => isChild).map(([name]) => name);
  const before = await rowsIn(tables);
  expect(Object.values(before)).not.toContain(0);
  expect(await deleteAll()).toEqual([]);
  const expected = tables.map((table) => {
    const isGone =
      withoutSample.rows.get(table)?.rowsOf.includes(foreign) && !['account_home', 'audit_entry'].includes(table);
    return [table, Number(before[table]) - Number(isGone)];
  });
  // The database audits that a client and its key were deleted.
  expect(await rowsIn(tables)).toEqual({
    ...Object.fromEntries(expected),
    audit_entry: Number(before['audit_entry']) + 2,
  });
  expect(await rowsIn(['account', 'organization', 'account_home'])).toEqual({
    account: interfaceNames.length,
    organization: 1,
    account_home: 1,
  });
  expect(await run('select * from foreign_bytes() where cell is not null')).toEqual([]);
});

test('deletes nothing of an account that is frozen or at home, or while a split is open', async () => {
  const tables = [...withoutSample.rows.keys()];
  await run('insert into account_home select id, 1, next_freeze() from account');
  const before = await rowsIn(tables);
  expect(await deleteAll()).toEqual([]);
  expect(await run('select * from foreign_bytes()')).toEqual([]);
  await run('update account_home set cell = 0');
  expect(await deleteAll()).toEqual([]);
  expect(await rowsIn(tables)).toEqual(before);

  await run('update account_home set cell = 1, frozen_at = null');
  await run(`insert into cell_split (from_cell, to_cell, organization_ids, standbys) values (0, 1, '{}', '{}')`);
  for (const call of [
    `delete_foreign_rows('order_line', 0, 1)`,
    `check_foreign_partition('webhook_event_20260101', 1)`,
    `drop_foreign_partition('webhook_event_20260101')`,
  ])
    await expect(only(call)).rejects.toThrow('A split is open');
});

test('lets an app that says it prunes delete nothing else', async () => {
  const asApp = 'set local role customer_api; set local deedwire.pruning = on';
  const inApp = async (statement: string): Promise<void> => {
    await run(`begin; ${asApp}`);
    try {
      await run(statement);
    } finally {
      await run('rollback');
    }
  };
  await run(`insert into account_home select id, 1, next_freeze() from account where interface = 'customer'`);
  await expect(inApp('delete from webhook_subscription_event_type')).rejects.toThrow('is frozen, or at home');
  await run('update account_home set frozen_at = null');
  await expect(inApp('update webhook_subscription set deleted_at = now()')).rejects.toThrow('at home in another cell');
  await expect(inApp(`select delete_foreign_rows('customer_order', 0, 1)`)).rejects.toThrow('permission denied');
  // What is foreign is deleted anyway.
  await inApp('delete from webhook_subscription_event_type');
});

test('keeps and names a foreign row that a row that stays refers to, and the parents of such rows', async () => {
  await leave('customer');
  await run(`update portal_session set key_id = 'customer' where interface = 'supply-chain'`);
  const [{ id } = {}] = await run(`select id from api_client where interface = 'customer'`);
  expect(await deleteAll()).toEqual([
    'api_key customer, because of portal_session',
    `api_client ${String(id)}, because of api_key`,
  ]);
  expect(await run(`select key_id from api_key order by 1`)).toEqual(
    interfaceNames.toSorted().map((name) => ({ key_id: name })),
  );
});

describe('a partition', () => {
  const day = '20260105';
  /** Inserts an event of a day that is over, with all that belongs to it. */
  async function addDay(of: string, number: number): Promise<void> {
    const id = `(date '2026-01-05' - date '2026-01-01')::bigint * 86400000 * 4194304 + ${number}`;
    for (const root of ['webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_attempt', 'webhook_exchange'])
      await run(
        `create table if not exists ${root}_${day} partition of ${root}
         for values from (${4 * 86_400_000 * 4_194_304}) to (${5 * 86_400_000 * 4_194_304})`,
      );
    await run(`
      insert into webhook_event (id, account_id, interface, event_type, snapshot)
        select ${id}, id, interface, 'order.paid', '{}' from account where interface = '${of}';
      insert into webhook_payload (event_id, event_version, interface, body) select ${id}, '2026-11-01', '${of}', '';
      insert into webhook_delivery
          (id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
        select ${id}, account_id, id, interface, ${id}, 'order.paid', '2026-11-01', now(), 2
        from webhook_subscription where interface = '${of}';
      insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms)
        select ${id}, 1, id, interface, now(), 1 from webhook_subscription where interface = '${of}';
      insert into webhook_exchange
          (id, delivery_id, number, started_at, subscription_id, interface, url_number, request_headers, response_headers, body_bytes)
        select ${id}, ${id}, 1, now(), id, interface, 1, '{}', '{}', 0 from webhook_subscription where interface = '${of}'`);
  }
  const needed = async (root: string): Promise<unknown> =>
    (await run('select needed from foreign_tables() where name = $1', [`${root}_${day}`]))[0]?.['needed'];
  const check = (root: string) => only(`check_foreign_partition('${root}_${day}', 1000)`);
  const drop = (root: string) => only(`drop_foreign_partition('${root}_${day}')`);

  test('drops a partition of a day that is over, once all that it depends on was looked through', async () => {
    await leave('customer');
    await addDay('customer', 1);
    expect(await needed('webhook_attempt')).toEqual([
      `webhook_attempt_${day}`,
      `webhook_delivery_${day}`,
      `webhook_event_${day}`,
    ]);
    expect(await drop('webhook_attempt')).toBe(false);
    expect([await check('webhook_attempt'), await check('webhook_delivery')]).toEqual([true, true]);
    expect(await drop('webhook_attempt')).toBe(false);
    expect(await check('webhook_event')).toBe(true);
    // A row that stays, written since.
    await addDay('supply-chain', 2);
    expect(await drop('webhook_attempt')).toBe(false);
    await run(`delete from webhook_event where id in (select max(id) from webhook_event_${day})`);
    for (const root of ['webhook_payload', 'webhook_delivery', 'webhook_attempt', 'webhook_exchange'])
      await run(`delete from ${root}_${day} where interface = 'supply-chain'`);
    const reader = await connect(databaseUrl);
    onTestFinished(() => reader.close());
    await reader.run(`begin; select from webhook_attempt`);
    await expect(drop('webhook_attempt')).rejects.toThrow('lock timeout');
    await reader.run('commit');
    expect(await drop('webhook_attempt')).toBe(true);
    for (const root of ['webhook_payload', 'webhook_exchange']) expect(await check(root)).toBe(true);
    for (const root of ['webhook_delivery', 'webhook_exchange', 'webhook_payload', 'webhook_event'])
      expect(await drop(root)).toBe(true);
    expect(await run('table foreign_partition')).toEqual([]);
    expect(await run(`select relname from pg_class where relname ~ '_${day}$'`)).toEqual([]);
    expect(await drop('webhook_event')).toBe(false);
  });

  test('finds nothing in a partition that the worker drops meanwhile', async () => {
    await leave('customer');
    const worker = await connect(databaseUrl);
    onTestFinished(() => worker.close());
    for (const [call, found] of [
      [`delete_foreign_rows('webhook_payload_${day}', 0, 1)`, null],
      [`check_foreign_partition('webhook_payload_${day}', 1)`, false],
      ['(select count(*) > 0 from foreign_bytes())', true],
    ] as const) {
      await addDay('customer', 1);
      await worker.run(`begin; drop table webhook_payload_${day}`);
      const waiting = only(call);
      await untilBlocked(worker);
      await worker.run(
        `drop table webhook_event_${day}, webhook_delivery_${day}, webhook_attempt_${day}, webhook_exchange_${day}; commit`,
      );
      expect(await waiting).toBe(found);
    }
  });

  test('drops no partition with a row that stays, and none of the day', async () => {
    await leave('customer');
    await addDay('customer', 1);
    await addDay('supply-chain', 2);
    for (const root of ['webhook_event', 'webhook_delivery', 'webhook_attempt', 'webhook_payload', 'webhook_exchange'])
      expect([await check(root), await drop(root)]).toEqual([false, false]);
    const [{ today } = {}] = await run(`select to_char(now() at time zone 'UTC', 'YYYYMMDD') as today`);
    await run(`delete from webhook_event where interface <> 'customer'`);
    await run(`delete from webhook_delivery where interface <> 'customer'`);
    for (const name of [`webhook_event_${String(today)}`, `webhook_delivery_${String(today)}`]) {
      expect(await only(`check_foreign_partition('${name}', 1000)`)).toBe(true);
      expect(await only(`drop_foreign_partition('${name}')`)).toBe(false);
      expect(await run('select needed from foreign_tables() where name = $1', [name])).toEqual([{ needed: null }]);
    }
  });

  test('looks through a partition in parts', async () => {
    await leave('customer');
    await addDay('customer', 1);
    await run(
      `insert into webhook_payload_${day} select event_id, number::text, interface, decode(repeat('00', 1900), 'hex')
       from webhook_payload_${day}, generate_series(1, 40) number`,
    );
    const [{ pages } = {}] = await run(`select pg_relation_size('webhook_payload_${day}')::int / 8192 as pages`);
    expect(Number(pages)).toBeGreaterThan(3);
    const checkPage = () => only(`check_foreign_partition('webhook_payload_${day}', 1)`);
    for (let page = 0; page < Number(pages); page += 1) expect(await checkPage()).toBe(null);
    expect(await checkPage()).toBe(true);
  });
});
