import { fork } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../support/database.ts';
import { PullServer } from '../support/pull-server.ts';

let server: PullServer;

const { database, pool } = await openDatabase('create table effect (id text primary key); create table call (id text)');

beforeEach(async () => {
  server = await new PullServer().start();
  await pool.query('truncate webhook_receipt, effect, call; drop table if exists webhook_receipt_pull');
});

afterEach(() => server.close());

const poison = 70;
const events = 120;
const startMs = Date.now();

interface Run {
  action?: 'reconcile' | 'reprocess';
  /** How long after the first run it takes place, by its clock, which stands still. */
  laterMs?: number;
  maxAttempts?: number;
}

/** Starts a process, as a supervisor does. Resolves with the report of its run, or null if it was killed. */
async function run({ action = 'reconcile', laterMs = 0, maxAttempts = 3 }: Run = {}): Promise<unknown> {
  const parameters = [database.databaseUrl, server.url, poison, action, startMs + laterMs, maxAttempts].map(String);
  const child = fork(new URL('../support/poison-process.ts', import.meta.url), parameters, {
    execArgv: ['--conditions=deedwire-source'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let report: unknown = null;
  child.on('message', (message) => {
    report = message;
  });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe(report === null ? 'SIGKILL' : null);
  await pool.query(`update webhook_receipt_pull set held_until = now() - interval '1 s'`);
  return report;
}

async function count(table: 'call' | 'effect'): Promise<number> {
  return (await pool.query(`select count(*)::int as count from ${table}`)).rows[0].count;
}

const id = `gid://service/WebhookDelivery/${poison}`;

test('an event that ends the process holds neither the others nor, after k attempts, the watermark', async () => {
  server.add(events);
  // Four handlers run at once. Then one after the other, so that the attempt of each event is recorded before it begins.
  expect(await run()).toBeNull();
  expect(await run()).toBeNull();
  expect(await run()).toBeNull();
  expect(await run()).toMatchObject({
    end: 'complete',
    watermark: poison - 1,
    held: [{ sequence: poison, id, code: 'HANDLER_FAILED', attempts: 2 }],
    givenUp: [],
  });
  expect(await count('effect')).toBe(events - 1);
  expect(await run({ laterMs: 10_001 })).toBeNull();
  expect(await run({ laterMs: 10_001 })).toMatchObject({
    end: 'complete',
    watermark: events,
    held: [],
    givenUp: [{ sequence: poison, id, code: 'HANDLER_FAILED' }],
  });
  // The first one could have been ended by any of four events.
  expect(await count('call')).toBe(4);
  server.add(1);
  expect(await run({ laterMs: 10_001 })).toMatchObject({ processed: 1, watermark: events + 1 });

  // Nor does it end each run of `reprocess`.
  await pool.query('truncate effect, call');
  expect(await run({ action: 'reprocess' })).toBeNull();
  expect(await run({ action: 'reprocess' })).toBeNull();
  expect(await run({ action: 'reprocess' })).toMatchObject({
    end: 'complete',
    failed: [{ sequence: poison, id, code: 'HANDLER_FAILED' }],
  });
  expect(await count('call')).toBe(2);
});

test('with one attempt, an event that ends the process is given up before the events after it', async () => {
  server.add(events);
  expect(await run({ maxAttempts: 1 })).toBeNull();
  expect(await run({ maxAttempts: 1 })).toBeNull();
  expect(await run({ maxAttempts: 1 })).toMatchObject({
    end: 'complete',
    watermark: events,
    held: [],
    givenUp: [{ sequence: poison, id, code: 'HANDLER_FAILED' }],
  });
  expect(await count('effect')).toBe(events - 1);
});
