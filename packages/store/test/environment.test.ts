import { randomUUID } from 'node:crypto';
import { testService } from '@deedwire/core/test-service';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import { createStore } from '../src/index.ts';
import { selectEndingUse, selectEnvironment } from '../src/processes/environment.ts';
import { createServiceDatabase } from './support/database.ts';
import { seedAccount } from './support/seed.ts';

const context = { gidNamespace: 'service', service: testService };

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const admin = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const operator = await forFile(
  createStore({ databaseUrl: await database.urlFor('operator'), applicationName: 'test' }),
);

type State = 'OPEN' | 'ENDED' | 'LOST' | 'OVERFLOWED';
interface Row {
  from: number;
  until: number;
  state: State;
  recorded: number;
  seen: number;
}

/** A period of a process that was ended in order. Times are minutes before now. */
const row = (from: number, until: number, change: Partial<Row> = {}): Row => ({
  from,
  until,
  recorded: until,
  seen: until,
  state: 'ENDED',
  ...change,
});

async function insert(rows: readonly Row[]): Promise<void> {
  for (const { from, until, recorded, seen, state } of rows)
    await superuser.run(
      `insert into use_counting (app, process_id, coordinates, counted_from, counted_until, recorded_at, seen_at, state)
       select 'customer-api', $1, '', now() - f, now() - u, now() - r, now() - s, $6
       from (values (make_interval(mins => $2), make_interval(mins => $3), make_interval(mins => $4), make_interval(mins => $5)))
         as minutes (f, u, r, s)`,
      [randomUUID(), from, until, recorded, seen, state],
    );
}
beforeEach(() => superuser.run('delete from use_counting'));

test.each([
  ['has ended once another has registered for 3 minutes', 'customer-api', '4 minutes', '0', []],
  [
    'counts as live after an outage, until another has registered for 3 minutes',
    'customer-api',
    '1 minute',
    '0',
    ['0.4.0'],
  ],
  ['counts as live while no other registers', 'customer-api', '1 hour', '2 minutes', ['0.4.0']],
  ['counts as live if the clock of another was set back', 'customer-api', '1 hour', '-1 minute', ['0.4.0']],
  ['counts as live whatever another app has', 'supplier-api', '4 minutes', '0', ['0.4.0']],
])('a process that was seen 10 minutes ago %s', async (_, app, since, last, versions) => {
  await superuser.run(
    `insert into app_process (id, app, version, started_at, last_seen_at, seen_since)
     select gen_random_uuid(), app, version, seen_since, last_seen_at, seen_since
     from (values ('customer-api', '0.4.0', now() - interval '1 hour', now() - interval '10 minutes'),
       ($1, '0.5.0', now() - $2::interval, now() - $3::interval)) as process (app, version, seen_since, last_seen_at)`,
    [app, since, last],
  );
  const { processes } = (await selectEnvironment(operator, context, [])).lists;
  await superuser.run('delete from app_process');
  expect((processes as { version: string }[]).map(({ version }) => version)).toEqual([...versions, '0.5.0']);
});

test.each([
  ['customer_api', 'deedwire-supplier-api-costs'],
  ['customer_api', 'deedwire-supplier-api'],
  ['customer_api', 'deedwire-"-api'],
] as const)('a session of %s named %s is no process of another app', async (role, name) => {
  const url = new URL(await database.urlFor(role));
  url.searchParams.set('application_name', name);
  const session = await connect(url.href);
  const { lists } = await selectEnvironment(operator, context, []);
  await session.close();
  expect(lists).toMatchObject({ processes: [] });
});

test('a database that began with the baseline has ended the builds before it', async () => {
  expect((await selectEnvironment(operator, context, [])).lists).toMatchObject({ needsMigration: '0110' });
});

describe('gaps', () => {
  test.each<[string, Row[], [from: number, until: number, reason: string][]]>([
    ['none while a process counts', [row(240, 1, { state: 'OPEN' })], []],
    ['none between processes that overlap', [row(240, 120), row(180, 2, { state: 'OPEN' })], []],
    [
      'while no process counts',
      [row(240, 180), row(150, 120)],
      [
        [180, 150, 'no process counted'],
        [120, 0, 'no process counted'],
      ],
    ],
    [
      'after the last counts of a killed process, until a minute after it was seen',
      [row(240, 180, { state: 'OPEN', seen: 175 }), row(240, 1, { state: 'OPEN' })],
      [[180, 174, 'a process ended without storing its counts']],
    ],
    [
      'until the counts of a process could be stored again',
      [row(240, 180, { state: 'LOST', seen: 160 }), row(160, 1, { state: 'OPEN' })],
      [
        [180, 160, 'counts were not stored'],
        [180, 160, 'no process counted'],
      ],
    ],
    [
      'of an overflow, beside another process too',
      [row(240, 1, { state: 'OPEN' }), row(180, 179, { state: 'OVERFLOWED' })],
      [[180, 179, 'too many keys to count']],
    ],
    [
      'of a process that runs and cannot store its counts',
      [row(240, 1, { state: 'OPEN' }), row(210, 180, { state: 'OPEN', seen: 1, recorded: 180 })],
      [[180, 0, 'a process ended without storing its counts']],
    ],
    ['none of a process whose clock was ahead', [row(-1, -2)], []],
    [
      'of a process that was killed after the clock was set back',
      [row(240, -60, { state: 'OPEN' }), row(240, 1, { state: 'OPEN' })],
      [[1, 0, 'a process ended without storing its counts']],
    ],
  ])('%s', async (_, rows, gaps) => {
    await insert(rows);
    const { lists: selected } = await selectEnvironment(operator, context, []);
    const { takenAt, gaps: found } = selected as {
      takenAt: Date;
      gaps: Record<'app' | 'from' | 'until' | 'reason', string>[];
    };
    const minutesBefore = (time: string) => Math.round((takenAt.getTime() - Date.parse(time)) / 60_000);
    expect(
      found.map(({ app, from, until, reason }) => [app, minutesBefore(from), minutesBefore(until), reason]),
    ).toEqual(gaps.map((gap) => ['customer-api', ...gap]));
  });
});

test('lists who pins or uses a version that ends, with the last use', async () => {
  const { id } = await seedAccount(admin, 'customer');
  await superuser.run(
    `insert into api_client (account_id, interface, client_id, schema_version)
     values ($1, 'customer', 'pinning', '2026-11-01'), ($1, 'customer', 'moved', '2027-02-01')`,
    [id],
  );
  await superuser.run(
    `with subscription as (
       insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
       select $1, 'customer', 'https://receiver.example.com/' || n, '', n from generate_series(1, 2) n
       returning id, interface, queue_position as n
     )
     insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
     select id, interface, 'order.placed', case n when 1 then '2026-11-01' else '2027-02-01' end from subscription`,
    [id],
  );
  await superuser.run(
    `insert into interface_use (api_client_id, interface, day, version, coordinate, count)
     select c.id, 'customer', u.day::date, '2026-11-01', u.coordinate, 5
     from (values ('moved', '2026-11-01', ''), ('moved', '2026-11-02', ''), ('moved', '2026-11-05', 'Query.old'),
       ('pinning', '2026-11-03', '')) u (client, day, coordinate)
     join api_client c on c.client_id = u.client`,
  );
  const sunsets = new Map([
    ['customer@2026-11-01', '2027-06-01'],
    ['order.placed@2026-11-01', '2027-05-01'],
  ]);
  const found = await selectEndingUse(operator, context, sunsets);
  expect(found.map(({ id: who, sunsetOn, isPinned, lastUsedOn }) => [who, sunsetOn, isPinned, lastUsedOn])).toEqual([
    [expect.stringMatching(/^gid:\/\/service\/WebhookSubscription\/\d+$/), '2027-05-01', true, null],
    ['moved', '2027-06-01', false, '2026-11-02'],
    ['pinning', '2027-06-01', true, '2026-11-03'],
  ]);
  expect(new Set(found.map(({ account }) => account))).toEqual(new Set([`gid://service/Customer/${id}`]));
});

test('what an app wrote and no line can show is left out, and makes only this app incomplete', async () => {
  const { id } = await seedAccount(admin, 'customer');
  await superuser.run(`
    insert into app_process (id, app, version, digest, started_at, last_seen_at)
    values (gen_random_uuid(), 'customer-api', E'x\\n::error::forged', repeat('a', 64), now(), now()),
      (gen_random_uuid(), 'supplier-api', '1.0.0', repeat('b', 64), now(), now())`);
  await superuser.run(
    `with client as (
       insert into api_client (account_id, interface, client_id, schema_version)
       values ($1, 'customer', 'odd', E'\\u202e'), ($1, 'customer', 'even', '2026-11-01')
       returning id, client_id
     ), used as (
       insert into interface_use (api_client_id, interface, day, version, coordinate, count)
       select id, 'customer', '2026-11-01', version, coordinate, 1
       from client, (values ('', 'a'), ('2026-11-01', E'a\\x1b[2J'), ('2026-11-01', '')) as u (version, coordinate)
       where client_id = 'even'
     ), event as (
       insert into webhook_event (account_id, interface, event_type, snapshot)
       values ($1, 'customer', 'a@b', '{}'), ($1, 'customer', 'order.placed', '{}')
       returning *
     ), queue as (
       insert into webhook_event_queue (account_id, interface, event_id) select account_id, interface, id from event
     ), subscription as (
       insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
       values ($1, 'customer', 'https://receiver.example.com/', '', 1)
       returning id, interface
     ), pending as (
       insert into webhook_pending_delivery
         (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence, due_at, body_bytes)
       select id, 1, $1, interface, 1, 'a b', '1', now(), 1, now(), 0 from subscription
     )
     insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
     select id, interface, event_type, '1' from subscription, (values ('a b'), ('a@b'), (''), ('order.placed')) as t (event_type)`,
    [id],
  );
  const { lists, incomplete } = await selectEnvironment(operator, context, []);
  expect(lists).toMatchObject({
    processes: [
      { app: 'customer-api', version: 'unknown', digest: null },
      { app: 'supplier-api', version: '1.0.0', digest: 'b'.repeat(64) },
    ],
    pins: expect.arrayContaining([
      expect.objectContaining({ id: 'even' }),
      expect.objectContaining({ event: 'order.placed@1' }),
    ]),
    uses: expect.arrayContaining([
      expect.objectContaining({ client: 'even', version: '2026-11-01', coordinate: null }),
    ]),
    queued: [{ type: 'order.placed', count: 1 }],
  });
  expect(incomplete).toEqual([
    { app: 'customer-api', reason: '1 queued events have a malformed type' },
    { app: 'customer-api', reason: '1 waiting deliveries have a malformed type' },
    { app: 'customer-api', reason: '2 rows of uses are malformed' },
    { app: 'customer-api', reason: '4 rows of pins are malformed' },
  ]);
});
