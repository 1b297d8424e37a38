import type { PoolClient } from 'pg';
import { beforeEach, expect, test } from 'vitest';
import type { Handlers } from '../../src/handlers.ts';
import { memoryStore } from '../../src/memory.ts';
import { postgresKeptEvents, type PostgresKeptEventsOptions, postgresStore } from '../../src/postgres.ts';
import { createInboxReceiver, createWebhookReceiver, type WebhookReceiver } from '../../src/receiver.ts';
import type { ReceiverResult } from '../../src/report.ts';
import { testSecret } from '../../src/testing.ts';
import { openDatabase } from '../support/database.ts';
import { library } from '../support/library.ts';
import { logLinesTo } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';
import { signedRequest } from '../support/requests.ts';

let logged: string[];
let results: ReceiverResult[];

const { pool } = await openDatabase('create table effect (reference text not null)');

beforeEach(async () => {
  logged = [];
  results = [];
  await pool.query('truncate webhook_receipt, webhook_kept_event, effect');
});

/** A release of a receiver, which has these handlers. */
function release(
  on: Handlers<events.WebhookEvent, PoolClient> = {},
  options: PostgresKeptEventsOptions = {},
  keptIn: Parameters<typeof postgresKeptEvents>[0] = pool,
): WebhookReceiver {
  return createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [testSecret],
    store: postgresStore(pool),
    on,
    keepUnhandled: postgresKeptEvents(keptIn, options),
    onResult: (result) => void results.push(result),
    log: logLinesTo(logged),
  });
}

const inserting: Handlers<events.WebhookEvent, PoolClient> = {
  'order.placed': {
    '2026-11-01': async ({ data }, { transaction, meta }) => {
      await transaction.query('insert into effect values ($1)', [`${data.note} ${meta.unsigned.sequence}`]);
    },
  },
};

async function send(receiver: WebhookReceiver, id: string): Promise<unknown> {
  const data = { note: `order_${id}` };
  const response = await receiver.fetch(await signedRequest('order.placed', '2026-11-01', { id, data }));
  return [response.status, await response.json()];
}

async function rowsOf(statement: string): Promise<unknown[]> {
  const { rows } = await pool.query<unknown[]>({ text: statement, rowMode: 'array' });
  return rows.flat();
}

const effects = (): Promise<unknown[]> => rowsOf('select reference from effect order by 1');
const kept = (): Promise<unknown[]> => rowsOf('select id from webhook_kept_event order by 1');

test('a kept test event is still a test when a handler gets it', async () => {
  for (const isTest of [true, false])
    await release().fetch(await signedRequest('order.placed', '2026-11-01', { id: String(isTest), isTest }));
  const handled: unknown[] = [];
  const on: Handlers<events.WebhookEvent, PoolClient> = {
    'order.placed': { '2026-11-01': (_event, { id, meta }) => handled.push([id, meta.unsigned.isTest]) },
  };
  await release(on).processKept();
  expect(handled).toEqual([
    ['false', false],
    ['true', true],
  ]);
});

test('a release with a handler processes the events that one without it kept, each once', async () => {
  const before = release();
  for (const id of ['a', 'b', 'a']) expect(await send(before, id)).toEqual([202, { result: 'kept' }]);
  await before.fetch(await signedRequest('webhook.test', '2026-11-01', { id: 'c' }));
  expect(logged).toEqual([
    expect.stringMatching(/^KEPT: There is no handler for order.placed 2026-11-01. Such events are kept until/),
    expect.stringMatching(/^KEPT: There is no handler for webhook.test 2026-11-01. Such events are kept until/),
  ]);
  expect(await before.processKept()).toEqual({ processed: 0, failed: 0 });
  expect(await kept()).toEqual(['a', 'b', 'c']);

  results = [];
  const after = release(inserting);
  expect(await after.processKept()).toEqual({ processed: 2, failed: 0 });
  expect(await effects()).toEqual(['order_a 1', 'order_b 1']);
  expect(await kept()).toEqual(['c']);
  expect(results).toMatchObject([
    { code: 'PROCESSED', id: 'a', type: 'order.placed', version: '2026-11-01' },
    { code: 'PROCESSED', id: 'b', type: 'order.placed', version: '2026-11-01' },
  ]);
  // A process of the release before gets an attempt whose first response was lost.
  expect(await send(before, 'a')).toEqual([202, { result: 'kept' }]);
  expect(await after.processKept()).toEqual({ processed: 0, failed: 0 });
  expect([await effects(), await kept()]).toEqual([expect.objectContaining({ length: 2 }), ['c']]);
});

test('an event whose handler fails stays kept', async () => {
  const before = release();
  for (const id of ['a', 'b']) await send(before, id);
  let isBroken = true;
  const after = release({
    'order.placed': {
      '2026-11-01': (event, context) => {
        if (isBroken && context.id === 'a') throw new Error('The disk is full.');
        return inserting['order.placed']?.['2026-11-01']?.(event, context);
      },
    },
  });
  expect(await after.processKept()).toEqual({ processed: 1, failed: 1 });
  expect(logged.at(-1)).toContain('The disk is full.');
  isBroken = false;
  expect(await after.processKept()).toEqual({ processed: 1, failed: 0 });
  expect([await kept(), await effects()]).toEqual([[], ['order_a 1', 'order_b 1']]);
});

test('an event that a later release finds malformed fails, and the others are processed', async () => {
  const before = release();
  for (const id of ['a', 'b']) await send(before, id);
  await pool.query(`update webhook_kept_event set body = replace(body, '"order_a"', '7') where id = 'a'`);
  results = [];
  const after = release(inserting);
  expect(await after.processKept()).toEqual({ processed: 1, failed: 1 });
  expect(results).toMatchObject([
    { code: 'BODY_MALFORMED', id: 'a', type: 'order.placed', version: '2026-11-01' },
    { code: 'PROCESSED', id: 'b' },
  ]);
  expect(logged.at(-1)).toMatch(/^BODY_MALFORMED: Deedwire sends no such body. It stays kept. .*"id":"a".*data.note/);
  expect([await kept(), await effects()]).toEqual([['a'], ['order_b 1']]);
});

test('several processes process each of 250 events once', async () => {
  const before = release();
  const ids = Array.from({ length: 250 }, (_, index) => `d${index}`);
  for (let start = 0; start < ids.length; start += 50)
    await Promise.all(ids.slice(start, start + 50).map((id) => send(before, id)));
  expect(await kept()).toHaveLength(250);
  await Promise.all([release(inserting).processKept(), release(inserting).processKept()]);
  // One that the other process was processing is still kept.
  await release(inserting).processKept();
  expect([await kept(), new Set(await effects()).size, (await effects()).length]).toEqual([[], 250, 250]);
});

test('refuses further events when there is no room, and keeps the known ones', async () => {
  const receiver = release({}, { maximum: 2 });
  for (const id of ['a', 'b', 'a']) expect(await send(receiver, id)).toEqual([202, { result: 'kept' }]);
  expect(await send(receiver, 'c')).toEqual([501, { code: 'UNHANDLED' }]);
  expect(logged.at(-1)).toContain('keepUnhandled has no room. Deedwire will retry the delivery.');
  for (const maximum of [0, 1.5])
    expect(() => postgresKeptEvents(pool, { maximum })).toThrow('maximum must be an integer of at least 1.');
});

test('an inbox accepts kept events, and another library keeps them', async () => {
  const accepted: string[] = [];
  const releaseWith = (handles: boolean): WebhookReceiver =>
    createInboxReceiver({
      events,
      prefix: 'X-Service',
      secrets: [testSecret],
      inbox: {
        handles: () => handles,
        forget: async () => 0,
        async accept({ id, body }) {
          accepted.push(`${id} ${JSON.parse(new TextDecoder().decode(body)).type}`);
          return 'accepted';
        },
      },
      keepUnhandled: postgresKeptEvents(library(pool)),
      log: logLinesTo(logged),
    });
  expect(await send(releaseWith(false), 'a')).toEqual([202, { result: 'kept' }]);
  expect(await releaseWith(true).processKept()).toEqual({ processed: 1, failed: 0 });
  expect([accepted, await kept()]).toEqual([['a order.placed'], []]);
});

test('responds 503 if the event cannot be kept, and stops processing when it is closed', async () => {
  const before = release();
  await send(before, 'a');
  const missing = release({}, { table: 'missing' });
  expect(await send(missing, 'b')).toEqual([503, { code: 'STORE_UNAVAILABLE' }]);
  // Its error has the parameters of the statement.
  const other = release({}, { table: 'missing' }, library(pool));
  expect(await send(other, 'c')).toEqual([503, { code: 'STORE_UNAVAILABLE' }]);
  expect(logged.at(-1)).toContain('relation "missing" does not exist');
  expect(logged.join('\n')).not.toContain('order_c');
  const closed = release(inserting);
  await closed.close();
  expect(await closed.processKept()).toEqual({ processed: 0, failed: 0 });
  expect(await kept()).toEqual(['a']);
});

test('needs the option, and not together with rejectUnhandled', async () => {
  const options = { events, secrets: [testSecret], store: memoryStore(), on: {} };
  await expect(createWebhookReceiver(options).processKept()).rejects.toThrow('processKept needs keepUnhandled.');
  const both = { rejectUnhandled: true, keepUnhandled: postgresKeptEvents(pool) };
  expect(() => createWebhookReceiver({ ...options, ...both })).toThrow(
    'Set keepUnhandled or rejectUnhandled, not both.',
  );
});
