import { testService } from '@deedwire/core/test-service';
import { connect, type Connection } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { migrate } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';

// Every login can change the settings of its session. What functions of the owner check must not depend on them.

const database = await forFile(createServiceDatabase());
const owner = await forFile(connect(database.databaseUrl));
await migrate(database.databaseUrl, testService);
await owner.run(`select create_account('customer', 'c-1', 'Ada')`);

let session: Connection;
beforeEach(async () => {
  session = await forTest(connect(database.databaseUrl));
});

const createKey = () => session.run(`select create_api_key('customer', 'c-1', 'Shop')`);

const append = (by: Connection) =>
  by.run(
    `select append_event('order.placed', 'c-1', '{"order": {"id": "1", "item": "Tea", "note": null}, "placedAt": ""}')`,
  );

/** A zone whose clocks go forward at this time by the hours and minutes, and back after 20 days. */
function zoneForwardAt(at: Date, by: string): string {
  const day = Math.floor((at.getTime() - Date.UTC(at.getUTCFullYear())) / 86_400_000);
  return `AAA0BBB-${by},${day}/${at.toISOString().slice(11, 19)},${(day + 20) % 365}`;
}

test('no time zone makes the day shorter in which an account gets 20 keys', async () => {
  for (let count = 1; count <= 20; count += 1) {
    await createKey();
    await owner.run(
      `update api_key set revoked_at = now(), created_at = now() - interval '1 hour' where revoked_at is null`,
    );
  }
  await expect(createKey()).rejects.toMatchObject({ code: 'DW008' });
  // A day ago by these clocks is half an hour ago.
  const at = new Date(Date.now() - 1_000);
  await session.run(`set timezone = '${zoneForwardAt(at, '23:30')}'`);
  expect(await session.run(`select now() - '1 day'::interval > now() - '1 hour'::interval as is_short`)).toEqual([
    { is_short: true },
  ]);
  await expect(createKey()).rejects.toMatchObject({ code: 'DW008' });
});

test('a missing partition has the name of its day in a time zone in which the day does not exist', async () => {
  for (const { name } of await owner.run(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'webhook_event'::regclass`,
  ))
    await owner.run(`drop table ${String(name)}`);
  const today = new Date(new Date().toISOString().slice(0, 10));
  await session.run(`set timezone = '${zoneForwardAt(today, '24')}'`);
  await append(session);
  await append(owner);
  expect(
    await owner.run(
      `select every(to_regclass('webhook_event_' || to_char(date '2026-01-01' + ((id >> 22) / 86400000)::int, 'YYYYMMDD')) = tableoid) as named
       from webhook_event`,
    ),
  ).toEqual([{ named: true }]);
});

test('without standard_conforming_strings, the functions for applications accept and refuse the same', async () => {
  await session.run('set escape_string_warning = off; set standard_conforming_strings = off');
  expect(await session.run(`select create_account('customer', 'c-2', 'anna')`)).toHaveLength(1);
  const link = (actor: string, url: string) =>
    session.run(`select create_portal_link('customer', 'c-2', $1, return_url => $2)`, [actor, url]);
  expect(await link('user-s', 'https://shop.example/s')).toHaveLength(1);
  await expect(link('Ada Byron', 'https://shop.example/')).rejects.toMatchObject({ code: 'DW007' });
  await expect(link('user-1', String.raw`https://shop.example\a`)).rejects.toMatchObject({ code: 'DW007' });
});

test.each([
  ['counts days has its time zone', String.raw`interval '\d+ days?'|\mdays =>`, 'TimeZone=UTC'],
  ['contains a backslash reads it as it is', String.raw`\\`, 'standard_conforming_strings=on'],
])('every function of the owner that %s', async (_, pattern, setting) => {
  const functions = await owner.run(
    `select proname::text as name, array_agg(s) @> array[$2] as is_set
     from pg_proc, unnest(proconfig) s where pronamespace = 'public'::regnamespace and prosecdef and prosrc ~ $1 group by oid, proname`,
    [pattern, setting],
  );
  expect(functions.length).toBeGreaterThan(3);
  expect(functions.filter((each) => each['is_set'] !== true)).toEqual([]);
});
