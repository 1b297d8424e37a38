import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { eventually, listen, startTcpProxy } from '@deedwire/testing';
import { Pool, type PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Handlers } from '../src/handlers.ts';
import { postgresInbox, type PostgresInboxOptions } from '../src/inbox.ts';
import { nodeHandler } from '../src/node.ts';
import type { PostgresTransactions } from '../src/postgres.ts';
import { createInboxReceiver } from '../src/receiver.ts';
import { ok } from '../src/responses.ts';
import { nodeAdapter } from './support/adapters.ts';
import { cases, check } from './support/conformance.ts';
import { converted, deliveryOf, secret } from './support/delivery.ts';
import { InboxSubject } from './support/inbox.ts';
import { library } from './support/library.ts';
import type { CreateReceiver } from './support/setup.ts';

const accepted = { status: 202, json: { result: 'accepted' } };
const duplicate = { status: 200, json: { result: 'duplicate' } };

let database: TestDatabase;
let pool: Pool;
const closers: (() => Promise<void>)[] = [];
let ids = 0;
let id = '';

beforeAll(async () => {
  database = await createTestDatabase({
    template: 'webhook_receiver_inbox',
    async prepare(databaseUrl) {
      const prepared = new Pool({ connectionString: databaseUrl });
      const inbox = postgresInbox<PoolClient>(prepared, { on: {} });
      await inbox.createTable();
      // It may be called at each start.
      await inbox.createTable();
      await prepared.query('create table effect (delivery_id text not null)');
      await prepared.end();
    },
  });
  pool = new Pool({ connectionString: database.databaseUrl, max: 30 });
  pool.on('error', () => {});
});

beforeEach(() => {
  ids += 1;
  id = `delivery_${ids}`;
});

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  // Another test would process what this one leaves.
  await pool.query('truncate webhook_inbox, effect');
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function listening(
  options?: Partial<PostgresInboxOptions<PoolClient>>,
  connections: Pool = pool,
): Promise<InboxSubject> {
  const subject = await new InboxSubject(connections, options).listen();
  closers.push(() => subject.stop());
  return subject;
}

async function started(options?: Partial<PostgresInboxOptions<PoolClient>>): Promise<InboxSubject> {
  const subject = await listening(options);
  subject.inbox.start();
  return subject;
}

async function effects(): Promise<number> {
  return (await pool.query('select from effect where delivery_id = $1', [id])).rows.length;
}

async function row(of = id) {
  const { rows } = await pool.query('select state, attempts, body, error from webhook_inbox where id = $1', [of]);
  return rows[0];
}

async function untilState(state: string, of = id): Promise<void> {
  await eventually(async () => expect(await row(of)).toMatchObject({ state }));
}

function gated(subject: InboxSubject) {
  const gate = Promise.withResolvers<void>();
  // Before the subject stops, which waits for the handler.
  closers.push(async () => gate.resolve());
  subject.work = () => gate.promise;
  return gate;
}

describe('a delivery', () => {
  test('is stored and processed once for 50 concurrent requests', async () => {
    const subject = await started();
    const answers = await Promise.all(Array.from({ length: 50 }, () => subject.send(deliveryOf({ id }))));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    for (const answer of answers)
      expect([accepted, duplicate]).toContainEqual({ status: answer.status, json: answer.json });
    await untilState('processed');
    expect([await effects(), subject.handled]).toEqual([1, [id]]);
  });

  test('is acknowledged before its handler has finished, and so is a repeat', async () => {
    const subject = await started();
    const gate = gated(subject);
    expect(await subject.send(deliveryOf({ id }))).toMatchObject(accepted);
    await eventually(() => expect(subject.handled).toEqual([id]));
    expect(await subject.send(deliveryOf({ id }))).toMatchObject(duplicate);
    expect(await effects()).toBe(0);
    gate.resolve();
    await untilState('processed');
    expect(await subject.send(deliveryOf({ id }))).toMatchObject(duplicate);
    expect([await effects(), subject.handled]).toEqual([1, [id]]);
  });

  test('is processed without a poll in the process that accepted it', async () => {
    const subject = await started({ pollMs: 3_600_000, concurrency: 1 });
    await Promise.all(Array.from({ length: 20 }, () => subject.send(deliveryOf())));
    await eventually(() => expect(subject.handled).toHaveLength(20));
  });

  test('reaches the handler as it was received, and its body is removed afterwards', async () => {
    const data = { ...converted.data, partnerName: 'a\0b \u{1F3E0} \uD800 "\\' };
    const calls: unknown[] = [];
    const subject = await started({
      on: {
        'referral.converted': { '2026-11-01': (event, { id: called, meta }) => calls.push([event, called, meta]) },
      },
    });
    const unicode = postgresInbox<PoolClient>(pool, { on: {} });
    const unsigned = { subscriptionId: 'a\0\uD800', sequence: 12, attempt: null };
    const body = Buffer.from(JSON.stringify({ ...converted, data }, null, 2));
    expect(await unicode.accept({ id, body, unsigned })).toBe('accepted');
    await untilState('processed');
    expect(calls).toEqual([[{ ...converted, data: expect.objectContaining(converted.data) }, id, { unsigned }]]);
    expect(await row()).toEqual({ state: 'processed', attempts: 1, body: null, error: null });
    expect(await subject.send(deliveryOf({ id: `${id}_http` }))).toMatchObject(accepted);
    await untilState('processed', `${id}_http`);
    const headers = { subscriptionId: 'gid://service/WebhookSubscription/7', sequence: 12, attempt: 3 };
    expect(calls[1]).toEqual([converted, `${id}_http`, { unsigned: headers }]);
  });

  test('is not stored if its event has no handler', async () => {
    const subject = await listening();
    for (const body of [
      { ...converted, type: 'matter.archived' },
      { ...converted, version: '2027-02-01' },
    ])
      expect((await subject.send(deliveryOf({ id, body }))).status).not.toBe(202);
    expect(await row()).toBeUndefined();
  });

  test('is processed by a process that has a handler for it', async () => {
    const retryDelaysMs = Array.from({ length: 1000 }, () => 20);
    const receiving = await listening({ retryDelaysMs });
    const older = await started({ on: {}, retryDelaysMs });
    expect(await receiving.send(deliveryOf({ id }))).toMatchObject(accepted);
    await eventually(() => expect(older.logged.join()).toContain('This process has no handler for it.'));
    receiving.inbox.start();
    await untilState('processed');
    expect(await effects()).toBe(1);
  });

  test('is accepted again after forget, by id and by time', async () => {
    const subject = await started();
    await subject.send(deliveryOf({ id }));
    await untilState('processed');
    expect(await subject.receiver.forget({ ids: [id, 'unknown'] })).toBe(1);
    expect(await subject.send(deliveryOf({ id }))).toMatchObject(accepted);
    await untilState('processed');
    expect(await subject.receiver.forget({ since: new Date(Date.now() + 60_000) })).toBe(0);
    expect(await subject.receiver.forget({ since: new Date(Date.now() - 60_000) })).toBe(1);
    expect(await subject.send(deliveryOf({ id }))).toMatchObject(accepted);
    await untilState('processed');
    expect(await effects()).toBe(3);
  });

  test('is not forgotten before it is processed', async () => {
    const subject = await listening();
    await subject.send(deliveryOf({ id }));
    expect(await subject.receiver.forget({ ids: [id] })).toBe(0);
    expect(await subject.receiver.forget({ since: new Date(0) })).toBe(0);
    subject.inbox.start();
    await untilState('processed');
  });
});

describe('a handler', () => {
  test('that fails three times is retried, and its changes are made once', async () => {
    const subject = await started();
    let failures = 0;
    subject.work = () => {
      if (failures === 3) return;
      failures += 1;
      throw new RangeError(`The disk is full (${failures}).`);
    };
    await subject.send(deliveryOf({ id }));
    await untilState('processed');
    expect([await effects(), subject.handled.length]).toEqual([1, 4]);
    expect(await row()).toMatchObject({ attempts: 4, error: null });
    expect(subject.logged).toHaveLength(3);
    expect(subject.logged[1]).toMatch(
      new RegExp(
        `^HANDLER_FAILED: referral.converted 2026-11-01 \\(${id}\\) failed in attempt 2. It is retried in 0.02 s. RangeError: The disk is full \\(2\\).`,
      ),
    );
  });

  test('that always fails keeps its event as failed, delays no other, and is called again by retry', async () => {
    const subject = await started();
    const poison = id;
    subject.work = ({ id: handled }) => {
      if (handled === poison) throw new Error(`No such matter:\0${'x'.repeat(2_000)}`);
    };
    await subject.send(deliveryOf({ id: poison }));
    for (const other of ['other_1', 'other_2']) await subject.send(deliveryOf({ id: other }));
    for (const other of ['other_1', 'other_2']) await untilState('processed', other);
    await untilState('failed');
    expect(subject.logged.at(-1)).toContain('failed in attempt 4. It is kept as failed.');
    const failed = await subject.inbox.failed();
    expect(failed).toEqual([
      {
        id: poison,
        event: converted,
        attempts: 4,
        error: expect.stringMatching(/^No such matter:x{985}$/),
        receivedAt: expect.any(Date),
        failedAt: expect.any(Date),
      },
    ]);
    const [{ receivedAt, failedAt } = { receivedAt: new Date(0), failedAt: new Date(0) }] = failed;
    expect(failedAt.getTime()).toBeGreaterThan(receivedAt.getTime());
    expect(Math.abs(Date.now() - failedAt.getTime())).toBeLessThan(600_000);
    expect(await subject.send(deliveryOf({ id: poison }))).toMatchObject(duplicate);
    // Only what is processed is forgotten. A failed event keeps its body.
    expect(await subject.receiver.forget({ ids: [poison] })).toBe(0);

    expect(await subject.inbox.retry({ since: new Date(Date.now() + 600_000) })).toBe(0);
    expect(await subject.inbox.retry({ ids: ['other_1', 'unknown'] })).toBe(0);
    expect(await subject.inbox.retry({ ids: [poison] })).toBe(1);
    await eventually(() => expect(subject.handled.filter((handled) => handled === poison)).toHaveLength(8));
    await untilState('failed');
    subject.work = () => {};
    expect(await subject.inbox.retry({ since: failedAt })).toBe(1);
    await untilState('processed');
    expect([await effects(), await subject.inbox.failed()]).toEqual([1, []]);
  });

  test('that ignores a failed statement is retried', async () => {
    const subject = await started();
    subject.work = async ({ transaction }) => {
      if (subject.handled.length === 1) await transaction.query('insert into missing values (1)').catch(() => {});
    };
    await subject.send(deliveryOf({ id }));
    await untilState('processed');
    expect([await effects(), subject.handled.length]).toEqual([1, 2]);
    expect(subject.logged.join()).toContain('A statement of the handler failed, and the handler did not throw.');
  });

  test.each(['commit', 'rollback'])('that sends %s is logged', async (statement) => {
    const subject = await started();
    subject.work = async ({ transaction }) => {
      if (subject.handled.length === 1) await transaction.query(statement);
    };
    await subject.send(deliveryOf({ id }));
    await untilState('processed');
    expect(subject.logged.join()).toContain('The handler ended the transaction.');
  });

  test('that is interrupted by close aborts, and the attempt does not count', async () => {
    const subject = await started({ retryDelaysMs: [] });
    let aborted = false;
    subject.work = async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      aborted = true;
      throw new Error('Interrupted.');
    };
    await subject.send(deliveryOf({ id }));
    await eventually(() => expect(subject.handled).toEqual([id]));
    await subject.receiver.close();
    expect(aborted).toBe(true);
    expect(await row()).toMatchObject({ state: 'waiting', attempts: 0, error: 'Interrupted.' });
    expect(await subject.send(deliveryOf())).toMatchObject({ status: 503, json: { code: 'CLOSING' } });
    expect(() => subject.inbox.start()).toThrow('The inbox is closed.');
    await started();
    await untilState('processed');
    expect(await effects()).toBe(1);
  });

  test('that ignores the signal finishes before close resolves', async () => {
    const subject = await started();
    const gate = gated(subject);
    await subject.send(deliveryOf({ id }));
    await eventually(() => expect(subject.handled).toEqual([id]));
    await subject.send(deliveryOf({ id: 'next' }));
    let isClosed = false;
    const close = async (): Promise<void> => {
      await subject.receiver.close();
      isClosed = true;
    };
    const closed = close();
    await sleep(100);
    expect(isClosed).toBe(false);
    gate.resolve();
    await closed;
    expect(await row()).toMatchObject({ state: 'processed' });
  });

  test('runs at most as often at once as the concurrency allows', async () => {
    const subject = await listening({ concurrency: 3 });
    let running = 0;
    let most = 0;
    subject.work = async () => {
      running += 1;
      most = Math.max(most, running);
      await eventually(() => expect(most).toBeGreaterThan(2));
      await sleep(20);
      running -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => subject.send(deliveryOf())));
    subject.inbox.start();
    await eventually(() => expect(subject.handled).toHaveLength(20));
    expect(most).toBe(3);
  });
});

describe('several processes', () => {
  test('process each event once', async () => {
    const receiving = await listening();
    const sent = Array.from({ length: 200 }, (_, index) => `shared_${index}`);
    for (const each of sent) await receiving.send(deliveryOf({ id: each }));
    const subjects = await Promise.all(Array.from({ length: 3 }, () => listening({ concurrency: 4 })));
    const shared = (): void => {
      for (const { handled } of subjects) expect(handled.length).toBeGreaterThan(0);
    };
    for (const subject of subjects) {
      subject.work = () => eventually(shared);
      subject.inbox.start();
    }
    await eventually(async () => {
      const { rows } = await pool.query(`select from webhook_inbox where state = 'processed'`);
      expect(rows).toHaveLength(sent.length);
    });
    expect(subjects.flatMap(({ handled }) => handled).toSorted()).toEqual(sent.toSorted());
    const { rows } = await pool.query('select delivery_id as id from effect');
    expect(rows.map((each) => String(each.id)).toSorted()).toEqual(sent.toSorted());
  });

  test('create the table once if 20 start together, also with the longest name', async () => {
    const inbox = postgresInbox<PoolClient>(pool, { on: {}, table: 'a'.repeat(50) });
    await Promise.all(Array.from({ length: 20 }, () => inbox.createTable()));
    expect(await inbox.failed()).toEqual([]);
    await pool.query(`drop table "${'a'.repeat(50)}"`);
  });

  test('skip a claim that ended before its transaction began', async () => {
    let transactions = 0;
    const handled: string[] = [];
    const base = library(pool);
    const slow: PostgresTransactions<{ client: PoolClient }> = {
      ...base,
      async transaction(work) {
        transactions += 1;
        // The first takes the event, the second begins the attempt.
        if (transactions === 2) await pool.query('update webhook_inbox set attempts = attempts + 1, due_at = now()');
        return base.transaction(work);
      },
    };
    await (await listening()).send(deliveryOf({ id }));
    const inbox = postgresInbox(slow, {
      on: { 'referral.converted': { '2026-11-01': (_event, context) => handled.push(context.id) } },
      pollMs: 20,
    });
    closers.push(() => inbox.close());
    inbox.start();
    await untilState('processed');
    expect([handled, await row()]).toMatchObject([[id], { attempts: 3 }]);
  });
});

describe('a library that opens transactions', () => {
  test('stores and processes a delivery once at REPEATABLE READ', async () => {
    const errors: unknown[] = [];
    const options: PostgresInboxOptions<{ client: PoolClient }> = {
      on: {
        'referral.converted': {
          '2026-11-01': async (_event, { transaction }) => {
            await transaction.client.query('insert into effect values ($1)', [id]);
          },
        },
      },
      pollMs: 20,
      log: { error: (...parameters) => errors.push(parameters) },
    };
    const one = postgresInbox(library(pool), options);
    const other = postgresInbox(library(pool), options);
    for (const inbox of [one, other]) {
      closers.push(() => inbox.close());
      inbox.start();
    }
    const delivery = {
      id,
      body: Buffer.from(JSON.stringify(converted)),
      unsigned: { subscriptionId: null, sequence: null, attempt: null },
    };
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? one : other).accept(delivery)),
    );
    expect(results.filter((result) => result === 'accepted')).toHaveLength(1);
    for (const result of results) expect(['accepted', 'busy', 'duplicate']).toContain(result);
    await untilState('processed');
    expect([await effects(), errors]).toEqual([1, []]);
  });

  test('does not bring the body into the log by its error', async () => {
    const inbox = postgresInbox(library(pool), {
      on: { 'referral.converted': { '2026-11-01': () => {} } },
      table: 'missing',
    });
    const logged: string[] = [];
    const receiver = createInboxReceiver({
      secrets: [secret],
      inbox,
      log: { error: (message, error) => logged.push(message, String(error)) },
    });
    const served = await listen(createServer(nodeHandler(receiver)));
    closers.push(() => served.close());
    const { headers, body } = deliveryOf({ id });
    const answer = await fetch(`http://127.0.0.1:${served.port}/`, {
      method: 'POST',
      headers: new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body: new Uint8Array(body),
    });
    expect([answer.status, await answer.json()]).toEqual([503, { code: 'STORE_UNAVAILABLE' }]);
    expect(logged.join('\n')).toContain('relation "missing" does not exist');
    expect(logged.join('\n')).not.toContain('CRM');
  });
});

describe('an unavailable database', () => {
  let proxy: Awaited<ReturnType<typeof startTcpProxy>>;
  let proxied: Pool;

  beforeEach(async () => {
    proxy = await startTcpProxy(database.databaseUrl);
    proxied = new Pool({ connectionString: proxy.url, max: 10 });
    proxied.on('error', () => {});
    closers.push(async () => {
      await proxied.end();
      await proxy.close();
    });
  });

  test('is answered with 503, and the retry is processed once it is available', async () => {
    const subject = await listening({}, proxied);
    subject.inbox.start();
    await subject.send(deliveryOf({ id: 'before' }));
    await untilState('processed', 'before');
    await proxy.close();
    expect(await subject.send(deliveryOf({ id }))).toMatchObject({ status: 503, json: { code: 'STORE_UNAVAILABLE' } });
    await eventually(() => expect(subject.logged.join()).toContain('The inbox could not be read.'));
    await sleep(200);
    // One line for each: the request, and the outage.
    expect(subject.logged).toHaveLength(2);
    expect(subject.handled).toEqual(['before']);
    await proxy.open();
    expect(await subject.send(deliveryOf({ id }))).toMatchObject(accepted);
    await untilState('processed');
    expect(await effects()).toBe(1);
  });

  test('is no loss if the connection breaks around the COMMIT of a request', async () => {
    for (const when of ['before', 'after'] as const) {
      id = `commit_${when}`;
      const subject = await listening({}, proxied);
      const broken = proxy.breakAt((statement) => statement === 'commit', { when });
      expect(await subject.send(deliveryOf({ id }))).toMatchObject({ status: 503 });
      await broken;
      expect(await subject.send(deliveryOf({ id }))).toMatchObject(when === 'before' ? accepted : duplicate);
      subject.inbox.start();
      await untilState('processed');
      expect(await effects()).toBe(1);
      await subject.receiver.close();
    }
  });

  test.each(['before', 'after'] as const)(
    'does not repeat or lose changes if the connection breaks %s the COMMIT of a handler',
    async (when) => {
      const subject = await listening({ concurrency: 1 }, proxied);
      let broken: Promise<void> | undefined;
      subject.inbox.start();
      // The first event also removes old ids, in a transaction that must not be the broken one.
      await subject.send(deliveryOf({ id: 'first' }));
      await untilState('processed', 'first');
      subject.work = () => {
        broken ??= proxy.breakAt((statement) => statement === 'commit', { when });
      };
      await subject.send(deliveryOf({ id }));
      await eventually(() => expect(broken).toBeDefined());
      await broken;
      await untilState('processed');
      expect([await effects(), subject.handled]).toEqual([1, ['first', ...(when === 'before' ? [id, id] : [id])]]);
    },
  );

  test('interrupts a handler, whose event is retried', async () => {
    const subject = await listening({}, proxied);
    subject.work = async () => {
      if (subject.handled.length > 1) return;
      await proxy.close();
      await proxy.open();
    };
    await subject.send(deliveryOf({ id }));
    subject.inbox.start();
    // The failure may be recorded, or the claim ends.
    await eventually(async () => expect(await row()).toMatchObject({ state: 'processed' }), 60_000);
    expect([await effects(), subject.handled.length]).toEqual([1, 2]);
  });
});

test('removes what was processed or failed 40 days ago', async () => {
  await pool.query(
    `insert into webhook_inbox (id, state, received_at, ended_at) values
    ('old', 'processed', now() - interval '41 days', now() - interval '41 days'),
    ('old_failure', 'failed', now() - interval '41 days', now() - interval '41 days'),
    ('kept', 'processed', now() - interval '41 days', now() - interval '39 days')`,
  );
  await pool.query(
    `insert into webhook_inbox (id, state, received_at, due_at) values ('waiting', 'waiting', now() - interval '41 days', now() + interval '1 day')`,
  );
  await started();
  await eventually(async () => {
    const { rows } = await pool.query('select id from webhook_inbox order by id');
    expect(rows).toEqual([{ id: 'kept' }, { id: 'waiting' }]);
  });
});

test('lists the newest failed events first, also those that this release cannot parse', async () => {
  await pool.query(
    `insert into webhook_inbox (id, state, body, error, ended_at) values
    ('older', 'failed', '{"CRM', 'The stored body is malformed.', now() - interval '2 hours'),
    ('newer', 'failed', $1, 'No.', now() - interval '1 hour')`,
    [JSON.stringify({ ...converted, version: '2031-01-01' })],
  );
  const inbox = postgresInbox<PoolClient>(pool, { on: {} });
  expect(await inbox.failed()).toMatchObject([
    { id: 'newer', event: { type: 'referral.converted', version: '2031-01-01' } },
    { id: 'older', event: null },
  ]);
  expect(await inbox.failed({ limit: 1 })).toHaveLength(1);
});

test('refuses options out of range', () => {
  const refused: readonly [message: RegExp, options: readonly object[]][] = [
    [/^table must be/, ['', 'a.b.c', 'a.', 'a'.repeat(64)].map((table) => ({ table }))],
    [/^concurrency must be/, [0, 1.5, NaN].map((concurrency) => ({ concurrency }))],
    [/^pollMs must be/, [0, NaN, 1e9].map((pollMs) => ({ pollMs }))],
    [/^retryDelaysMs must be/, [-1, NaN, Infinity].map((delayMs) => ({ retryDelaysMs: [0, delayMs] }))],
  ];
  for (const [message, each] of refused)
    for (const options of each) expect(() => postgresInbox<PoolClient>(pool, { on: {}, ...options })).toThrow(message);
});

/** What differs from a receiver with a store is tested above. It responds before the handler runs, so no handler is stopped. */
const differing = [
  'finishes the handler of a client that disconnects, so that the retry is a duplicate',
  'acknowledges only when the handler has finished, and responds 409 meanwhile',
  'responds 500 to a handler that throws, and calls it for the retry',
  'responds 503 without calling the handler if the store fails',
  'logs no body, secret or signature',
  'refuses requests once it is closing, aborts the signal and waits for the handler',
];

/** Turns 202 into the response that the cases expect, once the handler has finished. */
const create: CreateReceiver = ({ store: _store, on, ...options }) => {
  const inbox = postgresInbox<PoolClient>(pool, {
    on: on as unknown as Handlers<PoolClient>,
    pollMs: 20,
  });
  inbox.start();
  closers.push(() => inbox.close());
  const receiver = createInboxReceiver({ ...options, inbox });
  return {
    ...receiver,
    async receive(request) {
      const response = await receiver.receive(request);
      if (response.status !== 202) return response;
      await eventually(async () => {
        const { rows } = await pool.query(`select from webhook_inbox where state <> 'processed'`);
        expect(rows).toEqual([]);
      });
      return ok({ result: 'processed' });
    },
  };
};

describe('a receiver with an inbox', () => {
  test('differs in the cases that this file names', () => {
    const names = cases.map(({ name }) => name);
    for (const name of differing) expect(names).toContain(name);
  });

  test.each(cases.filter(({ name }) => !differing.includes(name)))('$name', async (checked) => {
    await expect(check(checked, nodeAdapter, create)).resolves.toBeUndefined();
  });
});
