import { createServer } from 'node:http';
import { eventually, listen } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodeHandler } from '../../src/node.ts';
import { graphqlPull } from '../../src/pull.ts';
import { createInboxReceiver } from '../../src/receiver.ts';
import { openDatabase } from '../support/database.ts';
import { deliveryOf, handling, secret, send } from '../support/delivery.ts';
import { jobLibraries } from '../support/job-libraries.ts';
import { logLinesTo } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';
import { credentials, PullServer, type StoredEvent, subscriptionId } from '../support/pull-server.ts';

let server: PullServer;

const { pool } = await openDatabase('create table effect (id text not null, source text not null)', {
  max: 20,
});

beforeEach(async () => {
  server = await new PullServer().start();
});

afterEach(async () => {
  await server.close();
  // Another test would process what this one leaves.
  await pool.query(
    'truncate webhook_inbox_receipt, effect, graphile_worker._private_jobs, pgboss.job; drop table if exists webhook_inbox_receipt_pull',
  );
});

const pull = (fetch = globalThis.fetch) =>
  graphqlPull({ prefix: 'X-Service', url: server.url, credentials, subscriptionId, fetch });

async function effects(): Promise<{ id: string; source: string }[]> {
  return (await pool.query('select id, source from effect order by length(id), id')).rows;
}

async function untilProcessed(count: number): Promise<void> {
  await eventually(async () => {
    const { rows } = await pool.query(
      'select count(*)::int as count from webhook_inbox_receipt where processed_at is not null',
    );
    expect(rows[0].count).toBe(count);
  });
}

describe.each(jobLibraries)('an inbox of %s', (_name, { open }) => {
  async function subjectOf(isBroken: () => boolean = () => false) {
    const opening = open(pool, {
      events,
      on: handling(async (_event, { id, transaction, meta }) => {
        await transaction.query('insert into effect values ($1, $2)', [id, meta.source]);
        if (isBroken()) throw new Error('The disk is full.');
      }),
      log: logLinesTo([]),
    });
    const opened = await forTest(opening);
    const receiver = createInboxReceiver({
      events,
      prefix: 'X-Service',
      secrets: [secret],
      inbox: opened.inbox,
      log: logLinesTo([]),
    });
    const { port } = await forTest(listen(createServer(nodeHandler(receiver))));
    const push = ({ deliveryId, payload }: StoredEvent) =>
      send(`http://127.0.0.1:${port}/`, deliveryOf({ id: deliveryId, body: payload ?? '' }));
    return { ...opened, receiver, push };
  }

  test('accepts what was not pushed, once, and passes it before its job runs', async () => {
    const subject = await subjectOf();
    const { receiver, push } = subject;
    const added = server.add(130);
    const pushed = added.filter(({ sequence }) => sequence % 10 !== 0);
    for (const event of pushed.slice(0, 60)) expect(await push(event)).toMatchObject({ status: 202 });
    // Push goes on.
    const [report] = await Promise.all([receiver.reconcile(pull(), { concurrency: 3 }), ...pushed.slice(60).map(push)]);
    const { accepted, duplicate, held } = report;
    expect(accepted + duplicate + held.length).toBe(130);
    expect(accepted).toBeGreaterThanOrEqual(13);
    expect(await receiver.reconcile(pull())).toMatchObject({ accepted: 0, lastSequence: 130 });
    expect(await effects()).toEqual([]);
    await subject.start();
    await untilProcessed(130);
    const all = await effects();
    expect(all.map(({ id }) => id)).toEqual(added.map(({ deliveryId }) => deliveryId));
    const notPushed = all.filter((_, index) => index % 10 === 9);
    expect(new Set(notPushed.map(({ source }) => source))).toEqual(new Set(['pull']));
    await expect.poll(async () => (await receiver.reconcile(pull())).watermark).toBe(130);
  });

  test('a job that fails is retried by its library, although the watermark has passed its event', async () => {
    let isBroken = true;
    const subject = await subjectOf(() => isBroken);
    server.add(3);
    expect(await subject.receiver.reconcile(pull())).toMatchObject({ accepted: 3, watermark: 3, held: [] });
    const [first = { deliveryId: '' }] = server.events;
    await expect(subject.runJob(first.deliveryId)).rejects.toThrow('The disk is full.');
    expect(await effects()).toEqual([]);
    isBroken = false;
    await subject.start();
    await subject.retryNow();
    await untilProcessed(3);
    expect(await effects()).toHaveLength(3);
  });

  test('reprocess adds a job for what is processed, and none for what still has one', async () => {
    const subject = await subjectOf();
    server.add(4);
    await subject.receiver.reconcile(pull());
    const since = new Date(0);
    expect(await subject.receiver.reprocess(pull(), { since })).toMatchObject({ accepted: 0, duplicate: 4 });
    await subject.start();
    await untilProcessed(4);
    expect(await subject.receiver.reprocess(pull(), { since })).toMatchObject({ accepted: 4, duplicate: 0 });
    await untilProcessed(4);
    await eventually(async () => expect(await effects()).toHaveLength(8));
    expect(await subject.receiver.reconcile(pull())).toMatchObject({ seen: 0, watermark: 4 });
  });

  test('while its database is unavailable, no event is passed', async () => {
    const subject = await subjectOf();
    server.add(2);
    await subject.receiver.reconcile(pull());
    server.add(2);
    // The lease is taken first, so the table disappears with the first page.
    let isHidden = false;
    const hiding: typeof fetch = async (...parameters) => {
      if (!isHidden) await pool.query('alter table webhook_inbox_receipt rename to hidden_receipt');
      isHidden = true;
      return fetch(...parameters);
    };
    const report = subject.receiver.reconcile(pull(hiding));
    await expect.poll(() => isHidden).toBe(true);
    await pool.query('alter table hidden_receipt rename to webhook_inbox_receipt');
    expect(await report).toMatchObject({ accepted: 2, held: [], watermark: 4 });
  });
});
