import { forFile } from '@deedwire/testing/for-file';
import type { Client } from 'pg';
import { expect, test } from 'vitest';
import { createClient } from '../src/connections/connect.ts';
import { createStore } from '../src/index.ts';
import { queryPreparedInTime } from '../src/statements/query-in-time.ts';
import { createServiceDatabase } from './support/database.ts';

const database = await forFile(createServiceDatabase());
const store = await forFile(
  createStore({ databaseUrl: database.databaseUrl, applicationName: 'test', maxConnections: 1 }),
);

const types = {
  name: 'types',
  text: `select $1::text as text, $2::int as number, $3::bigint as large, $4::boolean as yes, $5::json as json,
    $6::text as nothing, timestamptz '2026-11-01T10:00:00Z' as time, array[1, 2] as list`,
};

test('returns the same values each time, whatever they are', async () => {
  const texts = ['', 'é€𝄞', "'; \\ \0".slice(0, -1), 'x'.repeat(100_000)];
  for (const text of [...texts, ...texts]) {
    const values = [text, -7, 9_223_372_036_854_775_807n, true, '{"a":[1]}', null];
    expect(await store.query(types, values)).toEqual([
      {
        text,
        number: -7,
        large: '9223372036854775807',
        yes: true,
        json: { a: [1] },
        nothing: null,
        time: new Date('2026-11-01T10:00:00Z'),
        list: [1, 2],
      },
    ]);
  }
});

test('runs the same statement with values of which pg converts some', async () => {
  const statement = { name: 'converted', text: 'select $1::timestamptz as time, $2::text[] as list' };
  const time = new Date('2026-11-01T10:00:00.123Z');
  const plain = ['2026-11-01T10:00:00.123Z', '{a,b}'];
  for (const values of [plain, [time, ['a', 'b']], plain]) {
    expect(await store.query(statement, values)).toEqual([{ time, list: ['a', 'b'] }]);
  }
});

test('runs statements without a name, whose texts differ', async () => {
  for (const text of ['select 1 as one', 'select 2 as two', 'select 1 as one']) {
    expect(await store.query({ name: '', text }, [])).toEqual([text.endsWith('two') ? { two: 2 } : { one: 1 }]);
  }
});

test('runs statements without rows, and counts what they change', async () => {
  await using client = await connect();
  const timeoutMs = 60_000;
  await client.query('create temporary table numbers (number int)');
  const insert = { name: 'insert', text: 'insert into numbers select generate_series(1, $1::int)' };
  const change = { name: 'change', text: 'delete from numbers where number <= $1' };
  for (const count of [3, 5]) {
    const inserted = await queryPreparedInTime(client, { ...insert, values: [count] }, timeoutMs);
    expect(inserted).toMatchObject({ rows: [], rowCount: count, command: 'INSERT' });
    const changed = await queryPreparedInTime(client, { ...change, values: [count] }, timeoutMs);
    expect(changed).toMatchObject({ rows: [], rowCount: count, command: 'DELETE' });
  }
  const none = { name: 'none', text: 'set application_name = test' };
  expect(await queryPreparedInTime(client, none, timeoutMs)).toMatchObject({ rowCount: null, command: 'SET' });
});

test('a statement that fails, the first time or later, can run again', async () => {
  const statement = { name: 'fails', text: 'select 10 / $1::int as result' };
  for (let count = 0; count < 2; count += 1) {
    await expect(store.query(statement, [0])).rejects.toMatchObject({ code: '22012' });
    expect(await store.query(statement, [2])).toEqual([{ result: 5 }]);
  }
  // PostgreSQL has prepared it, and has not reported that it has no columns.
  const withoutColumns = {
    name: 'fails-without-columns',
    text: 'insert into organization (id, name) values ($1, null)',
  };
  for (let count = 0; count < 2; count += 1)
    await expect(store.query(withoutColumns, [1])).rejects.toMatchObject({ code: '23502' });
});

test('rejects a statement that has the name of another one, and keeps the connection', async () => {
  const statement = { name: 'duplicate', text: 'select $1::text as text' };
  await store.query(statement, ['a']);
  const other = { name: 'duplicate', text: 'select $1::text as other' };
  await expect(store.query(other, ['a'])).rejects.toThrow('The statement duplicate has several texts.');
  expect(await store.query(statement, ['b'])).toEqual([{ text: 'b' }]);
});

test('asks for the columns once, and then sends a statement in one piece', async () => {
  await using client = await connect();
  const sent: string[] = [];
  const { stream } = client.connection;
  const write = stream.write.bind(stream);
  stream.write = (chunk: Buffer) => {
    sent.push(String.fromCodePoint(chunk[0] ?? 0));
    return write(chunk);
  };
  const timeoutMs = 60_000;
  const query = { name: 'columns', text: 'select $1::int as number', values: [1] };
  const run = () => queryPreparedInTime(client, query, timeoutMs);
  const [first, second] = [await run(), await run()];
  expect([first.rows, second.rows]).toEqual([[{ number: 1 }], [{ number: 1 }]]);
  // Close, Parse, Describe, Bind; then Bind with all that follows it.
  expect(sent).toEqual(['C', 'P', 'D', 'B', 'B']);
});

async function connect(): Promise<Client & AsyncDisposable> {
  const client = createClient(database.databaseUrl, {});
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
