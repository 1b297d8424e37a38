import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { terminateBackends } from '@deedwire/embedded-postgres';
import { connect, eventually, listen, startTcpProxy, untilBlocked } from '@deedwire/testing';
import { Pool, type PoolClient } from 'pg';
import { PgBoss } from 'pg-boss';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { graphileWorkerInbox } from '../../src/graphile-worker.ts';
import type { HandlerContext, Handlers } from '../../src/handlers.ts';
import type { JobInboxOptions } from '../../src/job-inbox.ts';
import { nodeHandler } from '../../src/node.ts';
import type { InboxReceiverOptions } from '../../src/options.ts';
import { pgBossInbox } from '../../src/pg-boss.ts';
import { postgresKeptEvents, postgresStore } from '../../src/postgres.ts';
import { createInboxReceiver } from '../../src/receiver.ts';
import type { WebhookInbox } from '../../src/webhook-inbox.ts';
import { nodeAdapter } from '../support/adapters.ts';
import { cases, check } from '../support/conformance.ts';
import { openDatabase } from '../support/database.ts';
import { type Answer, placed, type Delivery, deliveryOf, handling, secret, send } from '../support/delivery.ts';
import { jobLibraries, type OpenInbox } from '../support/job-libraries.ts';
import { library } from '../support/library.ts';
import { logLinesTo, logTo, silent } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';
import type { CreateReceiver } from '../support/setup.ts';

const accepted = { status: 202, json: { result: 'accepted' } };
const duplicate = { status: 200, json: { result: 'duplicate' } };
const unavailable = { status: 503, json: { code: 'STORE_UNAVAILABLE' } };

/** What `deliveryOf` sends. */
const unsigned = {
  subscriptionId: 'gid://service/WebhookSubscription/7',
  sequence: 12,
  attempt: 3,
  isTest: false,
  isReplay: false,
};

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const closers: (() => Promise<unknown>)[] = [];
let ids = 0;
let id = '';

const { database, pool } = await openDatabase('create table effect (delivery_id text not null)', { max: 30 });

beforeEach(() => {
  ids += 1;
  id = `delivery_${ids}`;
});

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  // Another test would process what this one leaves.
  await pool.query('truncate webhook_inbox_receipt, effect, graphile_worker._private_jobs, pgboss.job');
});

function poolOf(max: number): Pool {
  const opened = new Pool({ connectionString: database.databaseUrl, max });
  closers.push(() => opened.end());
  return opened;
}

/** Starts pg-boss with a queue. */
async function startBoss(queue: string, options: object): Promise<PgBoss> {
  const boss = await new PgBoss({ connectionString: database.databaseUrl, supervise: false, schedule: false }).start();
  closers.push(() => boss.stop({ graceful: false }));
  await boss.createQueue(queue, options);
  return boss;
}

async function effects(): Promise<number> {
  return (await pool.query('select from effect where delivery_id = $1', [id])).rows.length;
}

async function row(of = id) {
  const { rows } = await pool.query(
    'select body, unsigned, processed_at is not null as "isProcessed" from webhook_inbox_receipt where id = $1',
    [of],
  );
  return rows[0];
}

async function untilProcessed(of = id): Promise<void> {
  await eventually(async () => expect(await row(of)).toEqual({ body: null, unsigned: null, isProcessed: true }));
}

/** What a test asks the handler to do, after it has made its change. */
type Work = (context: HandlerContext<PoolClient>) => unknown;

interface Subject extends OpenInbox {
  readonly logged: readonly string[];
  readonly handled: readonly string[];
  send(delivery?: Delivery): Promise<Answer>;
}

async function receiving(
  inbox: WebhookInbox,
  logged: string[],
  options: Partial<Omit<InboxReceiverOptions<typeof events, unknown>, 'events'>> = {},
): Promise<Subject['send']> {
  const receiver = createInboxReceiver({
    events,
    prefix: 'X-Service',
    secrets: [secret],
    inbox,
    log: logLinesTo(logged),
    ...options,
  });
  const served = await listen(createServer(nodeHandler(receiver)));
  closers.push(() => served.close());
  return (delivery = deliveryOf({ id })) => send(`http://127.0.0.1:${served.port}/`, delivery);
}

describe.each(jobLibraries)('an inbox of %s', (_name, { open, jobs, errors }) => {
  async function subjectOf(
    work: Work = () => {},
    options: Partial<Omit<JobInboxOptions<typeof events, PoolClient>, 'events'>> = {},
  ): Promise<Subject> {
    const handled: string[] = [];
    const logged: string[] = [];
    const opened = await open(pool, {
      events,
      on: handling(async (_event, context) => {
        handled.push(context.id);
        await context.transaction.query('insert into effect values ($1)', [context.id]);
        await work(context);
      }),
      log: logLinesTo(logged),
      ...options,
    });
    closers.push(opened.stop);
    return { ...opened, handled, logged, send: await receiving(opened.inbox, logged) };
  }

  async function jobCount(): Promise<number> {
    return (await pool.query(jobs)).rows[0].count;
  }

  test('processes a delivery once that is repeated 64 times while the library runs', async () => {
    const subject = await subjectOf();
    await subject.start();
    const answers = await Promise.all(Array.from({ length: 64 }, () => subject.send()));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    for (const { status, json } of answers) expect([accepted, duplicate]).toContainEqual({ status, json });
    await untilProcessed();
    await eventually(async () => expect(await jobCount()).toBe(0));
    expect(await subject.send()).toMatchObject(duplicate);
    // Jobs run at least once.
    await subject.runJob(id);
    expect([await effects(), subject.handled, subject.logged]).toEqual([1, [id], []]);
  });

  test('processes a delivery once that has several jobs at the same time', async () => {
    const gate = Promise.withResolvers<void>();
    const subject = await subjectOf(() => gate.promise);
    await subject.send();
    const first = subject.runJob(id);
    await eventually(() => expect(subject.handled).toEqual([id]));
    // It holds no connection meanwhile, and is retried.
    await expect(subject.runJob(id)).rejects.toThrow(`Another job processes ${id}.`);
    expect(subject.logged).toEqual([expect.stringContaining(`BUSY: Another job processes ${id}.`)]);
    gate.resolve();
    await first;
    await subject.runJob(id);
    expect([await effects(), subject.handled]).toEqual([1, [id]]);
  });

  test('adds the job in the transaction that inserts the receipt', async () => {
    const subject = await subjectOf();
    await pool.query('alter table graphile_worker._private_jobs add check (false) not valid');
    await pool.query(`alter table pgboss.job add constraint refused check (name <> 'webhook') not valid`);
    closers.push(async () => {
      await pool.query('alter table graphile_worker._private_jobs drop constraint _private_jobs_check');
      await pool.query('alter table pgboss.job drop constraint refused');
    });
    expect(await subject.send()).toMatchObject(unavailable);
    expect([await row(), await jobCount()]).toEqual([undefined, 0]);
    await closers.pop()?.();
    expect(await subject.send()).toMatchObject(accepted);
    expect(await row()).toMatchObject({ isProcessed: false });
    expect(await jobCount()).toBe(1);
  });

  test('retries a handler that fails, and keeps none of its changes', async () => {
    let isFull = true;
    const subject = await subjectOf(() => {
      if (isFull) throw new RangeError('The disk is full.');
    });
    await subject.start();
    await subject.send();
    await eventually(() => expect(subject.logged).not.toEqual([]));
    expect(subject.logged[0]).toContain(
      `HANDLER_FAILED: The handler of order.placed 2026-11-01 (${id}) failed. Its library retries the job, unless this was the last attempt. RangeError: The disk is full.`,
    );
    expect([await effects(), await row()]).toMatchObject([0, { isProcessed: false }]);
    isFull = false;
    await eventually(async () => {
      await subject.retryNow();
      expect(await effects()).toBe(1);
    });
    await untilProcessed();
    expect(subject.handled).toHaveLength(subject.logged.length + 1);
  });

  test('logs the type and version of the event once a job has read it', async () => {
    const lines: unknown[] = [];
    const subject = await subjectOf(
      () => {
        throw new RangeError('The disk is full.');
      },
      { log: logTo((_message, { code, id: logged, type, version }) => void lines.push([code, logged, type, version])) },
    );
    await subject.send();
    await expect(subject.runJob(id)).rejects.toThrow('The disk is full.');
    await expect(subject.runJob('missing')).rejects.toThrow(
      'The table "webhook_inbox_receipt" has no row for missing. It was forgotten, so that its job can be deleted, or this process has not the database and the table of the process that received it.',
    );
    await expect(subject.runJob(id, AbortSignal.abort())).rejects.toThrow(`stopped the job of ${id}`);
    expect(lines).toEqual([
      ['HANDLER_FAILED', id, 'order.placed', '2026-11-01'],
      ['HANDLER_FAILED', 'missing', undefined, undefined],
      ['CLOSING', id, undefined, undefined],
    ]);
  });

  test('records a failed attempt whose message PostgreSQL refuses as JSON', async () => {
    const failures: unknown[] = [
      // A part of a message can end within an emoji.
      new Error('No supplier is named \u{1F3E0}'.slice(0, -1)),
      new Error('a\0b'),
      Object.assign(new Error('The row is refused.'), { detail: 'Key (name)=(a\0b) already exists.' }),
      'c\0d',
      new Error(`${'e'.repeat(9_999)}\u{1F3E0}`),
      null,
    ];
    const subject = await subjectOf((context) => {
      throw failures[Number(context.id.at(-1))];
    });
    for (const index of failures.keys()) await subject.send(deliveryOf({ id: `${id}_${index}` }));
    await subject.start();
    await eventually(async () => {
      const { rows } = await pool.query<{ error: string }>(errors);
      expect(rows.map(({ error }) => error).toSorted()).toEqual(
        [
          'No supplier is named \uFFFD',
          'a\uFFFDb',
          'The row is refused.',
          'c\uFFFDd',
          `${'e'.repeat(9_999)}\uFFFD`,
          'null',
        ].toSorted(),
      );
    });
    // The library still runs.
    await subject.send(deliveryOf({ id: `${id}_9` }));
    await eventually(() => expect(subject.handled).toContain(`${id}_9`));
  });

  test('passes the event as it was received', async () => {
    const calls: unknown[] = [];
    const on = handling<PoolClient>((event, { id: called, meta }) => calls.push([event, called, meta]));
    const subject = await subjectOf(() => {}, { on });
    const data = { ...placed.data, itemName: 'a\0b \u{1F3E0} \uD800 "\\' };
    await subject.send(deliveryOf({ id, body: JSON.stringify({ ...placed, data }, null, 2) }));
    await subject.runJob(id);
    expect(calls).toEqual([
      [{ ...placed, data: expect.objectContaining(placed.data) }, id, { source: 'push', unsigned }],
    ]);
    expect(await row()).toEqual({ body: null, unsigned: null, isProcessed: true });
  });

  test('passes the source of a delivery, including of one that an earlier release stored', async () => {
    const sources: unknown[] = [];
    const on = handling<PoolClient>((_event, { id: called, meta }) => sources.push([called, meta]));
    const subject = await subjectOf(() => {}, { on });
    const receiver = createInboxReceiver({
      events,
      prefix: 'X-Service',
      secrets: [secret],
      inbox: subject.inbox,
      log: silent,
    });
    const pull = { id, payload: JSON.stringify(placed), isTest: true };
    expect(await receiver.processPulled(pull)).toBe('ACCEPTED');
    expect(await receiver.processPulled(pull)).toBe('DUPLICATE');
    await subject.runJob(id);
    const earlier = `${id}_earlier`;
    await subject.send(deliveryOf({ id: earlier }));
    await pool.query(`update webhook_inbox_receipt set unsigned = (unsigned::jsonb - 'source')::text where id = $1`, [
      earlier,
    ]);
    await subject.runJob(earlier);
    expect(sources).toEqual([
      [
        id,
        {
          source: 'pull',
          unsigned: { subscriptionId: null, sequence: null, attempt: null, isTest: true, isReplay: false },
        },
      ],
      [earlier, { source: 'push', unsigned }],
    ]);
  });

  test('fails the job of a process without the handler', async () => {
    const subject = await subjectOf();
    await subject.send();
    const older = await subjectOf(() => {}, { on: {} });
    await expect(older.runJob(id)).rejects.toThrow(`This process has no handler for order.placed 2026-11-01 (${id}).`);
    await subject.runJob(id);
    expect(await effects()).toBe(1);
  });

  test('runs fewer handlers at once than the pool has connections, together with a store and another inbox', async () => {
    const small = poolOf(3);
    let most = 0;
    let running = 0;
    const two = Promise.withResolvers<void>();
    const work = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      if (running === 2) two.resolve();
      await two.promise;
      await pool.query('select pg_sleep(0.1)');
      running -= 1;
    };
    const subject = await subjectOf();
    const several = [1, 2, 3, 4].map((number) => `${id}_${number}`);
    for (const each of several) await subject.send(deliveryOf({ id: each }));
    const on = handling(work);
    const [one, other] = [await open(small, { events, on }), await open(small, { events, on })];
    closers.push(one.stop, other.stop);
    const store = postgresStore(small);
    // They take the turns before the jobs, which wait.
    const processed = [1, 2].map((number) => store.once(`${id}_${number}`, work));
    await Promise.all([...several.map((each, index) => (index % 2 === 0 ? one : other).runJob(each)), ...processed]);
    expect([most, running]).toEqual([2, 0]);
  });

  test('leaves a connection to a store of the same pool while handlers of jobs hang', async () => {
    const small = poolOf(3);
    const gate = Promise.withResolvers<void>();
    const subject = await subjectOf();
    const several = [1, 2, 3].map((number) => `${id}_${number}`);
    for (const each of several) await subject.send(deliveryOf({ id: each }));
    const { runJob, stop } = await open(small, { events, on: handling(() => gate.promise) });
    closers.push(stop);
    const store = postgresStore(small);
    const running = several.map((each) => runJob(each));
    expect(await store.once(`${id}_store`, async () => {})).toBe('processed');
    gate.resolve();
    await Promise.all(running);
  });

  test('lets a job wait for a connection longer than handlers may run', async () => {
    const small = poolOf(2);
    const hanging = ['first', 'second'];
    const on = handling<PoolClient>((_event, context) => hanging.includes(context.id) && new Promise(() => {}));
    const subject = await subjectOf();
    for (const each of [...hanging, id]) await subject.send(deliveryOf({ id: each }));
    const { runJob, stop } = await open(small, { events, on, handlerTimeoutMs: 100, log: silent });
    closers.push(stop);
    const [first, second, third] = await Promise.allSettled([...hanging, id].map((each) => runJob(each)));
    for (const result of [first, second])
      expect(result).toMatchObject({ reason: { message: 'The handler took longer than handlerTimeoutMs (100 ms).' } });
    expect(third).toMatchObject({ status: 'fulfilled' });
    expect(await row()).toMatchObject({ isProcessed: true });
  });

  test('starts no handler after the library has stopped, of a job that waits for a connection', async () => {
    const small = poolOf(2);
    const gate = Promise.withResolvers<void>();
    const handled: string[] = [];
    const on = handling<PoolClient>((_event, context) => {
      handled.push(context.id);
      return gate.promise;
    });
    const subject = await subjectOf();
    for (const each of ['first', id]) await subject.send(deliveryOf({ id: each }));
    const logged: string[] = [];
    const { runJob, stop } = await open(small, { events, on, log: logLinesTo(logged) });
    closers.push(stop);
    const stopping = new AbortController();
    const first = runJob('first', stopping.signal);
    const second = runJob(id, stopping.signal);
    await eventually(() => expect(handled).toEqual(['first']));
    stopping.abort();
    const message = `The library stopped the job of ${id} before its handler. The library retries this one, unless this was the last attempt.`;
    await expect(second).rejects.toThrow(message);
    await expect(runJob(id, stopping.signal)).rejects.toThrow(message);
    gate.resolve();
    await first;
    expect([handled, logged]).toEqual([['first'], [1, 2].map(() => expect.stringContaining(`CLOSING: ${message}`))]);
    await runJob(id);
    expect(await row()).toMatchObject({ isProcessed: true });
  });

  test('starts no handler after the library has stopped, of a job that waits for the database', async () => {
    const stopping = new AbortController();
    const subject = await subjectOf();
    await subject.send();
    const [holder, observer] = await Promise.all([pool.connect(), connect(database.databaseUrl)]);
    await holder.query('begin; lock table webhook_inbox_receipt in access exclusive mode');
    const job = subject.runJob(id, stopping.signal);
    await untilBlocked(observer);
    await observer.close();
    stopping.abort();
    await Promise.all([
      holder.query('commit'),
      expect(job).rejects.toThrow(`The library stopped the job of order.placed 2026-11-01 (${id}) before its handler.`),
    ]);
    holder.release();
    expect(subject.handled).toEqual([]);
    await subject.runJob(id);
    expect(subject.handled).toEqual([id]);
  });

  test('fails the jobs of a pool with one connection, which accepts deliveries', async () => {
    const single = poolOf(1);
    const { inbox, runJob, stop } = await open(single, {
      events,
      on: handling(() => {}),
      log: silent,
    });
    closers.push(stop);
    expect(await (await receiving(inbox, []))()).toMatchObject(accepted);
    await expect(runJob(id)).rejects.toThrow('The pool has 1 connection. It needs at least 2');
  });

  test('keeps no listener of a handler while the library runs', async () => {
    let held: WeakRef<AbortSignal> | undefined;
    const subject = await subjectOf(({ signal }) => {
      signal.addEventListener('abort', () => {});
      held = new WeakRef(signal);
    });
    await subject.send();
    const stopping = new AbortController();
    await subject.runJob(id, stopping.signal);
    await eventually(() => {
      collectGarbage();
      expect(held?.deref()).toBeUndefined();
    });
    expect(stopping.signal.aborted).toBe(false);
  });

  test.each([
    ['ends the transaction', 'commit', 'The handler ended the transaction.'],
    ['ignores a failed statement', 'insert into missing values (1)', 'A statement of the handler failed'],
  ])('fails the job of a handler that %s', async (_what, statement, message) => {
    const subject = await subjectOf(({ transaction }) => transaction.query(statement).catch(() => {}));
    await subject.send();
    await expect(subject.runJob(id)).rejects.toThrow(message);
    expect(await row()).toMatchObject({ isProcessed: false });
  });

  test('gives up a handler after handlerTimeoutMs, and closes its connection', async () => {
    const signals: AbortSignal[] = [];
    const subject = await subjectOf(
      ({ signal }) => {
        signals.push(signal);
        if (signals.length === 1) return new Promise(() => {});
      },
      { handlerTimeoutMs: 100 },
    );
    await subject.send();
    await expect(subject.runJob(id)).rejects.toThrow('The handler took longer than handlerTimeoutMs (100 ms).');
    expect(signals[0]?.aborted).toBe(true);
    // The server ends the transaction when it notices the closed connection.
    await eventually(() => subject.runJob(id));
    expect(await effects()).toBe(1);
    await expect(open(pool, { events, on: {}, handlerTimeoutMs: 0 })).rejects.toThrow(
      'handlerTimeoutMs must be above 0',
    );
  });

  test('aborts the signal of a handler when the library stops', async () => {
    const stopping = new AbortController();
    const signals: AbortSignal[] = [];
    const subject = await subjectOf(({ signal }) => {
      stopping.abort();
      signals.push(signal);
    });
    await subject.send();
    // It may finish.
    await subject.runJob(id, stopping.signal);
    expect([signals[0]?.aborted, await effects()]).toEqual([true, 1]);
  });

  test('retries a handler whose connection is lost', async () => {
    const subject = await subjectOf(async () => {
      if (subject.handled.length === 1) await terminateBackends(database.databaseUrl);
    });
    await subject.send();
    await expect(subject.runJob(id)).rejects.toThrow(/terminat|is not queryable/);
    await eventually(() => subject.runJob(id));
    expect(await effects()).toBe(1);
  });

  test('accepts a delivery again after forget, by id and by time, if it is processed', async () => {
    const subject = await subjectOf();
    await subject.send();
    expect(await subject.inbox.forget({ ids: [id] })).toBe(0);
    await subject.runJob(id);
    expect(await subject.inbox.forget({ ids: [id, 'unknown'] })).toBe(1);
    expect(await subject.send()).toMatchObject(accepted);
    await subject.runJob(id);
    expect(await subject.inbox.forget({ since: new Date(Date.now() + 60_000) })).toBe(0);
    expect(await subject.inbox.forget({ since: new Date(Date.now() - 60_000) })).toBe(1);
    expect(await subject.send()).toMatchObject(accepted);
    await subject.runJob(id);
    expect(await effects()).toBe(3);
  });

  test('adds a job with retry for a delivery whose job is gone', async () => {
    const subject = await subjectOf();
    await subject.send();
    await pool.query('truncate graphile_worker._private_jobs, pgboss.job');
    expect(await subject.inbox.retry({ since: new Date(Date.now() + 60_000) })).toBe(0);
    expect(await subject.inbox.retry({ ids: [id, 'unknown'] })).toBe(1);
    expect(await subject.inbox.retry({ since: new Date(Date.now() - 60_000) })).toBe(1);
    expect(await jobCount()).toBe(2);
    await subject.start();
    await untilProcessed();
    await eventually(async () => expect(await jobCount()).toBe(0));
    expect(await subject.inbox.retry({ ids: [id] })).toBe(0);
    expect(await effects()).toBe(1);
  });
});

test('pg-boss fails only the jobs of a batch that failed', async () => {
  const boss = await startBoss('batches', { retryLimit: 0 });
  const inbox = pgBossInbox(pool, {
    events,
    boss,
    queue: 'batches',
    on: handling((_event, context) => {
      if (context.id.startsWith('poison')) throw new RangeError('The disk is full.');
    }),
    log: silent,
  });
  const post = await receiving(inbox, []);
  const batch = ['good1', 'poison1', 'good2', 'poison2', 'good3'];
  for (const each of batch) expect(await post(deliveryOf({ id: each }))).toMatchObject(accepted);
  await boss.work('batches', { batchSize: 10, pollingIntervalSeconds: 0.5 }, inbox.work);
  await eventually(async () => {
    const { rows } = await pool.query(
      `select data->>'id' as id, state from pgboss.job where name = 'batches' order by 1`,
    );
    expect(rows).toEqual(
      batch.toSorted().map((each) => ({ id: each, state: each.startsWith('good') ? 'completed' : 'failed' })),
    );
  });
  const { rows } = await pool.query('select id from webhook_inbox_receipt where processed_at is null order by id');
  expect(rows).toEqual([{ id: 'poison1' }, { id: 'poison2' }]);
});

test('pg-boss starts no handler of a batch after it has stopped the batch', async () => {
  const boss = await startBoss('stopped', { retryLimit: 3, retryDelay: 60 });
  const handled: string[] = [];
  const gate = Promise.withResolvers<void>();
  const inbox = pgBossInbox(pool, {
    events,
    boss,
    queue: 'stopped',
    on: handling((_event, context) => {
      handled.push(context.id);
      return gate.promise;
    }),
    log: silent,
  });
  const post = await receiving(inbox, []);
  const batch = ['a', 'b', 'c'];
  for (const each of batch) expect(await post(deliveryOf({ id: each }))).toMatchObject(accepted);
  const ended = Promise.withResolvers<unknown>();
  await boss.work('stopped', { batchSize: 3, pollingIntervalSeconds: 0.5 }, (jobs) => {
    const work = inbox.work(jobs);
    ended.resolve(work.catch((error: unknown) => error));
    return work;
  });
  await eventually(() => expect(handled).toHaveLength(1));
  await boss.stop({ timeout: 1_000 });
  gate.resolve();
  expect(await ended.promise).toMatchObject({ message: '2 of 3 jobs failed. The log has a line for each.' });
  expect(handled).toHaveLength(1);
  const { rows } = await pool.query(`select state from pgboss.job where name = 'stopped'`);
  expect(rows).toEqual(batch.map(() => ({ state: 'retry' })));
});

test('a delivery is not stored if pg-boss adds no job', async () => {
  // Such a queue has at most one job that waits.
  const boss = await startBoss('narrow', { policy: 'short' });
  const logged: string[] = [];
  const on = handling(() => {});
  const post = await receiving(pgBossInbox(pool, { events, boss, queue: 'narrow', on }), logged);
  expect(await post(deliveryOf({ id: 'first' }))).toMatchObject(accepted);
  expect(await post()).toMatchObject(unavailable);
  expect(await row()).toBeUndefined();
  expect(logged.join()).toContain(`No job was added for ${id}, so it is not stored. Check the policy of the queue.`);
});

test('a library that opens transactions stores and processes a delivery once at REPEATABLE READ', async () => {
  const inbox = graphileWorkerInbox<typeof events, { client: PoolClient }>(library(pool), {
    events,
    on: handling(async (_event, context) => {
      await context.transaction.client.query('insert into effect values ($1)', [id]);
    }),
    log: silent,
  });
  const logged: string[] = [];
  const post = await receiving(inbox, logged);
  const statuses = (await Promise.all(Array.from({ length: 50 }, () => post()))).map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(1);
  for (const status of statuses) expect([200, 202, 409]).toContain(status);
  const runJob = async (): Promise<void> => inbox.taskList['webhook']?.({ id }, {});
  await Promise.allSettled(Array.from({ length: 9 }, runJob));
  expect([await effects(), logged.filter((line) => !line.startsWith('BUSY'))]).toEqual([1, []]);
  // Its error has the parameters of the statement.
  await pool.query('alter table webhook_inbox_receipt rename to renamed');
  closers.push(() => pool.query('alter table renamed rename to webhook_inbox_receipt'));
  expect(await post(deliveryOf({ id: 'other' }))).toMatchObject(unavailable);
  expect(logged.join('\n')).toContain('relation "webhook_inbox_receipt" does not exist');
  expect(logged.join('\n')).not.toContain(placed.data.orderId);
});

/** An inbox whose pool has two connections that do not respond. New ones do. */
async function hungInbox(logged: string[]) {
  const proxy = await startTcpProxy(database.databaseUrl);
  closers.push(() => proxy.close());
  const hung = new Pool({ connectionString: proxy.url, max: 2 });
  hung.on('error', () => {});
  const handled: string[] = [];
  const on = handling<PoolClient>((_event, context) => handled.push(context.id));
  const inbox = graphileWorkerInbox(hung, { events, on, storeTimeoutMs: 500, log: logLinesTo(logged) });
  await Promise.all([1, 2].map(() => hung.query('select pg_sleep(0.1)')));
  expect(hung.idleCount).toBe(2);
  proxy.hang();
  return { inbox, hung, handled };
}

describe('half-open connections', () => {
  test('of requests are closed after storeTimeoutMs', async () => {
    const { inbox, hung } = await hungInbox([]);
    const post = await receiving(inbox, [], { storeTimeoutMs: 500 });
    expect((await Promise.all([post(), post()])).map(({ status }) => status)).toEqual([503, 503]);
    await eventually(async () => expect([200, 202]).toContain((await post()).status));
    await hung.end();
  });

  test('of kept events are closed after storeTimeoutMs', async () => {
    const { inbox, hung } = await hungInbox([]);
    const keepUnhandled = postgresKeptEvents(hung);
    await postgresKeptEvents(pool).createTable();
    const post = await receiving(inbox, [], { storeTimeoutMs: 500, keepUnhandled });
    const unknown = { ...placed, version: '2027-01-01' };
    const keep = () => post(deliveryOf({ id, body: JSON.stringify(unknown) }));
    expect((await Promise.all([keep(), keep()])).map(({ status }) => status)).toEqual([503, 503]);
    await eventually(async () => expect(await keep()).toMatchObject({ status: 202, json: { result: 'kept' } }));
    await hung.end();
  });

  test('of jobs are closed after storeTimeoutMs, and the jobs fail', async () => {
    await (
      await receiving(graphileWorkerInbox(pool, { events, on: handling(() => {}) }), [])
    )();
    const logged: string[] = [];
    const { inbox, hung, handled } = await hungInbox(logged);
    const runJob = async (): Promise<void> => inbox.taskList['webhook']?.({ id }, {});
    const failed = 'The database took longer than storeTimeoutMs (500 ms).';
    for (const result of await Promise.allSettled([runJob(), runJob()]))
      expect(result).toMatchObject({ status: 'rejected', reason: { message: failed } });
    expect(logged.join('\n')).toContain(failed);
    await eventually(async () => {
      await runJob();
      expect(handled).toEqual([id]);
    });
    await hung.end();
  });
});

test('an inbox refuses a statement of a handler that took longer than handlerTimeoutMs', async () => {
  const late = Promise.withResolvers<unknown>();
  const inbox = graphileWorkerInbox<typeof events, { client: PoolClient }>(library(pool), {
    events,
    handlerTimeoutMs: 50,
    // It ignores its signal.
    on: handling(async (_event, { signal, transaction }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await new Promise((resolve) => setTimeout(resolve));
      const insert = async (): Promise<unknown> => transaction.client.query('insert into effect values ($1)', [id]);
      late.resolve(await insert().catch((error: unknown) => error));
    }),
    log: silent,
  });
  const post = await receiving(inbox, []);
  expect(await post()).toMatchObject(accepted);
  await expect(async () => inbox.taskList['webhook']?.({ id }, {})).rejects.toThrow(
    'The handler took longer than handlerTimeoutMs (50 ms).',
  );
  expect(await late.promise).toMatchObject({
    message: expect.stringMatching(/^The transaction of this handler has ended/),
  });
  expect(await effects()).toBe(0);
});

test('an inbox removes what was processed 40 days ago', async () => {
  await pool.query(
    `insert into webhook_inbox_receipt (id, received_at, processed_at) values
    ('old', now() - interval '41 days', now() - interval '41 days'),
    ('kept', now() - interval '41 days', now() - interval '39 days'),
    ('waiting', now() - interval '41 days', null)`,
  );
  await pool.query(`insert into webhook_inbox_receipt values ('new', null, null, now(), now())`);
  const inbox = graphileWorkerInbox(pool, { events, on: {} });
  await inbox.taskList['webhook']?.({ id: 'new' }, {});
  await eventually(async () => {
    const { rows } = await pool.query('select id from webhook_inbox_receipt order by id');
    expect(rows).toEqual([{ id: 'kept' }, { id: 'new' }, { id: 'waiting' }]);
  });
});

test('an inbox refuses options out of range', () => {
  for (const maxAttempts of [0, 1.5, NaN, 40_000])
    expect(() => graphileWorkerInbox(pool, { events, on: {}, maxAttempts })).toThrow(/^maxAttempts must be/);
  for (const table of ['', 'a.b.c', 'a.', 'a'.repeat(64)])
    expect(() => graphileWorkerInbox(pool, { events, on: {}, table })).toThrow(/^table must be/);
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
  const inbox = graphileWorkerInbox(pool, { events, on: on as unknown as Handlers<events.WebhookEvent, PoolClient> });
  const receiver = createInboxReceiver({ ...options, inbox });
  return {
    ...receiver,
    async receive(request) {
      const response = await receiver.receive(request);
      if (response.status !== 202) return response;
      const { rows } = await pool.query('select id from webhook_inbox_receipt where processed_at is null');
      for (const { id: waiting } of rows) await inbox.taskList['webhook']?.({ id: waiting }, {});
      return { ...response, status: 200, body: '{"result":"processed"}' };
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
