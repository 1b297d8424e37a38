import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { eventually } from '@deedwire/testing';
import { Pool, type PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { postgresInbox, type PostgresInbox } from '../../src/inbox.ts';
import { converted, deliveryOf, secret, send } from '../support/delivery.ts';

const kills = 20;

let database: TestDatabase;
let pool: Pool;
let inbox: PostgresInbox;

beforeEach(async () => {
  database = await createTestDatabase({
    template: 'webhook_receiver_inbox_kill',
    async prepare(databaseUrl) {
      const prepared = new Pool({ connectionString: databaseUrl });
      await postgresInbox<PoolClient>(prepared, { on: {} }).createTable();
      await prepared.query('create table effect (delivery_id text not null, finished boolean not null default false)');
      await prepared.end();
    },
  });
  pool = new Pool({ connectionString: database.databaseUrl });
  inbox = postgresInbox<PoolClient>(pool, { on: {} });
});

afterEach(async () => {
  await pool.end();
  await database.drop();
});

async function start(...options: string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(
    new URL('../support/inbox-process.ts', import.meta.url),
    [database.databaseUrl, secret, ...options],
    {
      execArgv: ['--conditions=deedwire-source'],
    },
  );
  const [{ port }] = await once(child, 'message');
  return { child, url: `http://127.0.0.1:${port}/` };
}

async function effects(): Promise<unknown[]> {
  const { rows } = await pool.query('select delivery_id as id, finished from effect');
  return rows.toSorted((one, other) => one.id.localeCompare(other.id));
}

test('makes the changes of a handler once if one of two processes is killed at 20 random points', async () => {
  const other = await start();
  const unanswered: string[] = [];
  for (let round = 0; round < kills; round += 1) {
    const { child, url } = await start();
    const exited = once(child, 'exit');
    const sent = ['a', 'b', 'c'].map((name) => `killed_${round}_${name}`);
    const answers = sent.map((id) => send(url, deliveryOf({ id })).catch(() => null));
    await sleep(Math.random() * 80);
    child.kill('SIGKILL');
    await exited;
    for (const [index, id] of sent.entries()) if ((await answers[index])?.status !== 202) unanswered.push(id);
  }
  // Deedwire sends again what was not acknowledged.
  for (const id of unanswered) {
    const status = async (): Promise<number> => (await send(other.url, deliveryOf({ id }))).status;
    // The server ends the transaction of a killed process when it notices the closed connection.
    await expect.poll(status).toBeOneOf([200, 202]);
  }
  const all = Array.from({ length: kills }, (_, round) =>
    ['a', 'b', 'c'].map((name) => ({ id: `killed_${round}_${name}`, finished: true })),
  );
  await eventually(async () => {
    const { rows } = await pool.query(`select id, state, attempts from webhook_inbox where state <> 'processed'`);
    expect(rows).toEqual([]);
  });
  const { rows } = await pool.query('select id from webhook_inbox where attempts > 1');
  process.stdout.write(`${unanswered.length} of ${kills * 3} were not acknowledged, ${rows.length} interrupted\n`);
  other.child.disconnect();
  expect(unanswered.length + rows.length).toBeGreaterThan(0);
  expect(await effects()).toEqual(all.flat().toSorted((one, two) => one.id.localeCompare(two.id)));
});

test('leaves an event to the process whose handler has run for longer than a claim lasts', async () => {
  const calls: string[] = [];
  const gate = Promise.withResolvers<void>();
  const inboxOf = (): PostgresInbox =>
    postgresInbox<PoolClient>(pool, {
      on: {
        'referral.converted': {
          '2026-11-01': async (_event, { id, transaction }) => {
            calls.push(id);
            await transaction.query('insert into effect values ($1, true)', [id]);
            if (id === 'slow') await gate.promise;
          },
        },
      },
      pollMs: 20,
    });
  const inboxes = [inboxOf(), inboxOf()];
  for (const each of inboxes) each.start();
  const body = Buffer.from(JSON.stringify(converted));
  const delivery = { id: 'slow', body, unsigned: { subscriptionId: null, sequence: null, attempt: null } };
  await inbox.accept(delivery);
  await eventually(() => expect(calls).toHaveLength(1));
  await sleep(11_000);
  // Neither a repeat nor an operator waits for the lock of the handler.
  expect(await inbox.accept(delivery)).toBe('duplicate');
  expect([await inbox.forget({ since: new Date(0) }), await inbox.retry({ ids: ['slow'] })]).toEqual([0, 0]);
  // Nor do other events.
  await inbox.accept({ ...delivery, id: 'other' });
  await eventually(async () => expect(await effects()).toEqual([{ id: 'other', finished: true }])).finally(
    gate.resolve,
  );
  await Promise.all(inboxes.map((each) => each.close()));
  expect(calls).toEqual(['slow', 'other']);
  expect(await effects()).toHaveLength(2);
});

test('keeps an event as failed whose handler ends the process each time, and processes the others', async () => {
  const first = await start('2');
  const deaths: string[] = [];
  let { child, url } = first;
  let exited = once(child, 'exit');
  await send(url, deliveryOf({ id: 'poison' }));
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const [, signal] = await exited;
    deaths.push(signal);
    // Instead of a wait.
    await pool.query('update webhook_inbox set due_at = now()');
    ({ child, url } = await start('2'));
    exited = once(child, 'exit');
  }
  await eventually(async () => {
    expect(await inbox.failed()).toMatchObject([
      {
        id: 'poison',
        attempts: 3,
        error: expect.stringMatching(/^The last attempt has no result: its process was stopped/),
      },
    ]);
  });
  await send(url, deliveryOf({ id: 'other' }));
  await eventually(async () => expect(await effects()).toEqual([{ id: 'other', finished: true }]));
  child.disconnect();
  expect(deaths).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL']);
});
