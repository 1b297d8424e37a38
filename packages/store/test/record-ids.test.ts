import { timeOf, toRecordId } from '@deedwire/core';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection } from '@deedwire/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { insertOrganization } from '../src/accounts/accounts.ts';
import { createStore, type Store } from '../src/index.ts';
import { drawnKeys } from '../src/transactions/record-id-collision.ts';
import { withoutSample } from './support/tested-services.ts';

let database: TestDatabase;
let store: Store;
let superuser: Connection;

beforeEach(async () => {
  database = await withoutSample.createDatabase();
  store = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  superuser = await connect(database.databaseUrl);
});

afterEach(async () => {
  await Promise.all([store.close(), superuser.close()]);
  await database.drop();
});

async function read(connection: Connection, expression: string): Promise<string> {
  const [row] = await connection.run(`select (${expression})::text as value`);
  return String(row?.['value']);
}

const countedBits = (id: string): number => Number(BigInt(id) & 4095n);

/** Replaces the function that draws ids. */
const drawIds = (expression: string) =>
  superuser.run(`create or replace function new_record_id() returns bigint language sql as $$ select ${expression} $$`);

const setNextNumber = (number: string) => superuser.run(`select setval('record_number', $1, false)`, [number]);

describe('new_record_id()', () => {
  test('contains the time, the cell and the counter', async () => {
    const before = Date.now();
    const id = toRecordId(await read(superuser, 'new_record_id()'));
    const after = Date.now();
    // The clock of the test reads whole milliseconds.
    expect(timeOf(id).getTime()).toBeGreaterThanOrEqual(before - 1);
    expect(timeOf(id).getTime()).toBeLessThanOrEqual(after);
    expect((BigInt(id) >> 12n) & 1023n).toBe(0n);
  });

  test('draws 100,000 different ids on 8 connections, each within its milliseconds', async () => {
    const now = 'floor(extract(epoch from clock_timestamp()) * 1000)';
    const drawMany = async (): Promise<string[]> => {
      const connection = await connect(database.databaseUrl);
      const drawn: string[] = [];
      for (let batch = 0; batch < 25; batch += 1) {
        const firstMs = Number(await read(connection, now));
        const ids = await connection.run('select new_record_id() as id from generate_series(1, 500)');
        const lastMs = Number(await read(connection, now));
        for (const { id } of ids) {
          const ms = timeOf(toRecordId(String(id))).getTime();
          if (ms < firstMs || ms > lastMs) throw new Error(`${String(id)} is not of ${firstMs} to ${lastMs}.`);
          drawn.push(String(id));
        }
      }
      await connection.close();
      return drawn;
    };
    const drawn = await Promise.all(Array.from({ length: 8 }, drawMany));
    expect(new Set(drawn.flat()).size).toBe(100_000);
  });

  test('does not show how many ids were drawn between two milliseconds', async () => {
    const starts = new Map<number, number>();
    while (starts.size < 50) {
      const id = await read(superuser, 'new_record_id()');
      const number = await read(superuser, 'select last_value from record_number');
      starts.set(timeOf(toRecordId(id)).getTime(), (countedBits(id) - Number(number) + 2 * 4096) % 4096);
    }
    expect(new Set(starts.values()).size).toBeGreaterThan(40);
  });

  test('rejects a clock before 2026', async () => {
    const source = await read(superuser, `pg_get_functiondef('new_record_id'::regproc)`);
    await superuser.run(source.replaceAll('clock_timestamp()', `timestamptz '2025-12-31 23:59:59+00'`));
    await expect(superuser.run('select new_record_id()')).rejects.toThrow(
      /The clock of the database server is at 2025-12-31 .* Record ids need a time from 2026 to 2095\./,
    );
  });

  test('has a literal of the cell and the seed of the installation', async () => {
    const source = await read(superuser, `pg_get_functiondef('new_record_id'::regproc)`);
    expect(source).toContain(`'${await read(superuser, 'select id_seed from installation')}'::bigint`);
    await expect(superuser.run('insert into installation values (default, 1, 1)')).rejects.toThrow('installation_pkey');
  });
});

const refused = 'This database is not the new side of a split.';
const takeNumber = () => superuser.run('select take_cell_number()');
const prepareSplit = () =>
  superuser.run(`insert into cell_split (from_cell, to_cell, organization_ids, standbys) values (0, 5, '{}', '{}')`);
const installation = async () => (await superuser.run('select * from installation'))[0] ?? {};

describe('take_cell_number()', () => {
  test('gives the new side of a split its own number, seed and id, once', async () => {
    const before = await installation();
    await expect(takeNumber()).rejects.toThrow(refused);
    await prepareSplit();
    await expect(takeNumber()).rejects.toThrow(refused);
    await superuser.run(`update cell_split set freeze_lsn = '0/1'`);
    await takeNumber();
    const after = await installation();
    expect(after['cell']).toBe(5);
    expect(after['id_seed']).not.toBe(before['id_seed']);
    expect(after['installation_id']).not.toBe(before['installation_id']);
    expect(await read(superuser, '(new_record_id() >> 12) & 1023')).toBe('5');
    expect(await read(superuser, `pg_get_functiondef('new_record_id'::regproc)`)).toContain(
      `'${String(after['id_seed'])}'`,
    );
    await expect(takeNumber()).rejects.toThrow(refused);
  });

  test('is refused while an app is connected, and to the logins of apps', async () => {
    await prepareSplit();
    await superuser.run(`update cell_split set freeze_lsn = '0/1'`);
    const app = await connect(`${database.databaseUrl}?application_name=deedwire-customer-api`);
    await expect(takeNumber()).rejects.toThrow(
      /^Apps are connected to the new side: deedwire-customer-api \(login \w+, process \d+\)\. Stop them, and try again\.$/,
    );
    await app.close();
    await superuser.run('set role operator');
    await expect(takeNumber()).rejects.toThrow('permission denied');
  });
});

test('an organization that moves gets no account', async () => {
  const { id } = await insertOrganization(store, 'Harbour');
  const insert = () =>
    superuser.run(`insert into account (interface, organization_id, name) values ('customer', $1, 'Harbour')`, [id]);
  await superuser.run('insert into organization_home values ($1, 5, now())', [id]);
  await expect(insert()).rejects.toThrow('belongs to the cell 5');
  await superuser.run('delete from organization_home');
  await insert();
});

describe('a drawn id that already exists', () => {
  // As if every id was drawn in the same millisecond.
  const frozenClock = `(1::bigint << 22) | (nextval('record_number') & 4095)`;

  test('is drawn again for a single statement', async () => {
    await drawIds(frozenClock);
    const first = await read(superuser, `nextval('record_number')`);
    const [one, two] = [await insertOrganization(store, 'One'), await insertOrganization(store, 'Two')];
    await setNextNumber(String(BigInt(first) + 1n));
    const three = await insertOrganization(store, 'Three');
    expect([one, two, three].map(({ id }) => BigInt(id) - (1n << 22n) - BigInt(first))).toEqual([1n, 2n, 3n]);
  });

  test('runs the transaction again, and keeps nothing of the first run', async () => {
    await drawIds(frozenClock);
    const first = await read(superuser, `nextval('record_number')`);
    await insertOrganization(store, 'One');
    await setNextNumber(first);
    let runs = 0;
    const { id } = await store.transaction(async (transaction) => {
      runs += 1;
      const organization = await insertOrganization(transaction, `A${runs}`);
      await insertOrganization(transaction, `B${runs}`);
      return organization;
    });
    expect(runs).toBe(2);
    const names = await superuser.run('select name from organization order by name');
    expect(names.map(({ name }) => name)).toEqual(['A2', 'B2', 'One']);
    expect(await superuser.run(`select id from organization where name = 'A2'`)).toEqual([{ id }]);
  });

  test('fails with the error of the database after 5 attempts', async () => {
    await drawIds(`case when nextval('record_number') > 0 then 7 end`);
    await insertOrganization(store, 'One');
    const before = BigInt(await read(superuser, `nextval('record_number')`));
    await expect(insertOrganization(store, 'Two')).rejects.toMatchObject({
      code: '23505',
      constraint: 'organization_pkey',
    });
    await expect(store.transaction((transaction) => insertOrganization(transaction, 'Two'))).rejects.toThrow(
      'organization_pkey',
    );
    expect(BigInt(await read(superuser, `nextval('record_number')`))).toBe(before + 11n);
  });

  test('is recognized in exactly the tables whose ids the database draws', async () => {
    const rows = await superuser.run(`
      select c.conname as name
      from pg_attrdef d
      join pg_constraint c on c.conrelid = d.adrelid and c.conkey = array[d.adnum] and c.contype = 'p'
      where pg_get_expr(d.adbin, d.adrelid) = 'new_record_id()'
        and not exists (select from pg_inherits where inhrelid = d.adrelid)
      order by c.conname`);
    const names = rows.map(({ name }) => String(name));
    expect([...drawnKeys(withoutSample.service.tables)].toSorted()).toEqual(names.toSorted());
  });
});
