import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { eventually, listen, partOf, quotedLines, quotingSections, staleQuotes } from '@deedwire/testing';
import { verifyWebhook, type VerifyWebhookOptions } from '@deedwire/webhook-signing';
import { Pool } from 'pg';
import { expect, test } from 'vitest';
import { graphileWorkerInbox } from '../src/graphile-worker.ts';
import type { UnsignedHeaders } from '../src/handlers.ts';
import type { KeptEvents } from '../src/kept-events.ts';
import { nodeHandler } from '../src/node.ts';
import { pgBossInbox } from '../src/pg-boss.ts';
import { cleanUpOf, postgresTable } from '../src/postgres-table.ts';
import { postgresStore } from '../src/postgres.ts';
import { createWebhookReceiver } from '../src/receiver.ts';
import { redisStore } from '../src/redis.ts';
import type { WebhookResponseCode } from '../src/responses.ts';
import { adapters, nodeAdapter } from './support/adapters.ts';
import { converted, type Delivery, deliveryOf, newSecret, secret, unsignedOf } from './support/delivery.ts';
import { logTo } from './support/log.ts';
import type { Options } from './support/setup.ts';
import { Subject } from './support/subject.ts';

const page = readFileSync(new URL('../../../docs/receiver-troubleshooting.md', import.meta.url), 'utf8');
const { WebhookVerificationError: verificationCodes }: Record<string, object> = JSON.parse(
  readFileSync(new URL('../../webhook-signing/error-codes.json', import.meta.url), 'utf8'),
);

const unknown = { ...converted, type: 'matter.archived' };
const withoutStandard = { 'webhook-id': undefined, 'webhook-timestamp': undefined, 'webhook-signature': undefined };
const withoutService = { 'x-service-webhook-timestamp': undefined, 'x-service-webhook-signature': undefined };

/** A receiver on a socket, and everything that it emits: the lines of its log, and each response. */
async function observe(
  use: (subject: Subject, send: (delivery: Delivery) => Promise<void>) => Promise<void>,
  options: Partial<Options> = {},
): Promise<string[]> {
  const emitted: string[] = [];
  const log = logTo((line, { err }) => void emitted.push(line, messageOf(err)));
  const subject = await Subject.start(nodeAdapter, {
    create: (common) => createWebhookReceiver({ ...common, log, ...options }),
  });
  try {
    await use(subject, async (delivery) => {
      const { status, text } = await subject.send(delivery);
      emitted.push(`${status} ${text}`);
    });
  } finally {
    await subject.stop();
  }
  return emitted;
}

const refusal = (delivery: Delivery, options?: Partial<Options>): Promise<string[]> =>
  observe((_subject, send) => send(delivery), options);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');

const never = (): Promise<never> => new Promise(() => {});

/** The message that a call throws. */
function message(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  throw new Error('The call threw no error.');
}

const verification = (options: Partial<VerifyWebhookOptions>, delivery: Delivery = deliveryOf()): string =>
  message(() => verifyWebhook({ headers: verifiable(delivery), body: delivery.body, secret, ...options }));

function verifiable({ headers }: Delivery): Record<string, string | string[] | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value : value?.toString()]),
  );
}

/** A refused delivery and what `verifyWebhook` throws for it. */
async function unauthentic(delivery: Delivery): Promise<string[]> {
  return [...(await refusal(delivery)), verification({}, delivery)];
}

const noHeaders: UnsignedHeaders = { subscriptionId: null, sequence: null, attempt: null };

const noKeptEvents: KeptEvents = {
  keep: async () => false,
  names: async () => [],
  page: async () => [],
  remove: async () => {},
};

const request = (body: ReadableStream, options: Partial<Options> = {}): Promise<Response> =>
  createWebhookReceiver({ secrets: [secret], store: neverStore, on: {}, ...options }).fetch(
    new Request('http://localhost/webhooks', { method: 'POST', body, duplex: 'half' }),
  );

const neverStore: Options['store'] = {
  once: () => Promise.reject(new Error('connect ECONNREFUSED')),
  forget: () => Promise.reject(new Error('connect ECONNREFUSED')),
};

async function observeFetch(send: (options: Partial<Options>) => Promise<Response>): Promise<string[]> {
  const lines: string[] = [];
  const response = await send({ log: logTo((line) => void lines.push(line)) });
  return [...lines, `${response.status} ${await response.text()}`];
}

const withSecrets = (...secrets: unknown[]): Promise<string[]> =>
  refusal(deliveryOf(), { secrets: () => secrets as string[] });

/** What is emitted for each code. Complete by its type and by the list of `webhook-signing`. */
const emitted: Record<WebhookResponseCode, () => Promise<string[]>> & Record<string, () => Promise<string[]>> = {
  async BODY_NOT_RAW() {
    const lines: string[] = [];
    for (const adapter of adapters) {
      const log = logTo((line) => void lines.push(line));
      const subject = await Subject.start(adapter, {
        mount: 'consumed',
        create: (common) => createWebhookReceiver({ ...common, log }),
      });
      const { status, text } = await subject.send(deliveryOf());
      lines.push(`${status} ${text}`);
      await subject.stop();
    }
    const decoding = await listen(
      createServer((incoming, response) => {
        incoming.setEncoding('utf8');
        const log = logTo((line) => void lines.push(line));
        nodeHandler(createWebhookReceiver({ secrets: [secret], store: neverStore, on: {}, log }))(incoming, response);
      }),
    );
    await fetch(`http://127.0.0.1:${decoding.port}`, { method: 'POST', body: '{}' });
    await decoding.close();
    // The page quotes what each adapter logs.
    const quotes = quotedLines(partOf(page, 'Responses of the receiver'));
    expect(lines.filter((line) => !quotes.includes(line))).toEqual([]);
    // @ts-expect-error -- no body
    const missing = verification({ body: undefined });
    // @ts-expect-error -- a parsed body
    const parsed = verification({ body: {} });
    return [...lines, missing, parsed];
  },
  async SIGNATURE_MISMATCH() {
    const standardOnly = deliveryOf({ secret: newSecret, headers: withoutService });
    return [...(await unauthentic(deliveryOf({ secret: newSecret }))), verification({}, standardOnly)];
  },
  SIGNATURE_MISSING: () => unauthentic(unsignedOf(converted)),
  HEADER_MISSING: () => unauthentic(deliveryOf({ headers: { 'webhook-id': undefined } })),
  async HEADER_MALFORMED() {
    const timestamp = 'x-service-webhook-timestamp';
    const lines = await unauthentic(deliveryOf({ headers: { [timestamp]: ['1793491200', '1793491200'] } }));
    for (const headers of [
      { [timestamp]: '1793491200000' },
      { 'x-service-webhook-signature': 'sha256=00' },
      { 'webhook-signature': 'v1=00' },
    ])
      lines.push(...(await unauthentic(deliveryOf({ headers }))));
    return lines;
  },
  TIMESTAMP_CONFLICT: () => unauthentic(deliveryOf({ headers: { 'webhook-timestamp': '1793491200' } })),
  TIMESTAMP_TOO_OLD: () => unauthentic(deliveryOf({ ageSeconds: 600 })),
  TIMESTAMP_TOO_NEW: () => unauthentic(deliveryOf({ ageSeconds: -600 })),
  async SECRET_MISSING() {
    // @ts-expect-error -- an environment variable that is not set
    const missing = verification({ secret: undefined });
    const refused = [
      ...(await withSecrets()),
      ...(await refusal(deliveryOf(), { secrets: [], awaitingSecret: true })),
      message(() => createWebhookReceiver({ secrets: [], store: neverStore, on: {} })),
    ];
    return [...refused, missing, verification({ secret: '' })];
  },
  async SECRET_INVALID() {
    const lines = await refusal(deliveryOf(), { secrets: () => Promise.reject(new Error('not found')) });
    lines.push(...(await refusal(deliveryOf(), { secrets: never, storeTimeoutMs: 10 })));
    // @ts-expect-error -- no list
    lines.push(...(await refusal(deliveryOf(), { secrets: () => secret })));
    for (const malformed of [undefined, '', `${secret}\n`, secret.slice(6), 'whsec_abc'])
      lines.push(...(await withSecrets(malformed)));
    lines.push(message(() => createWebhookReceiver({ secrets: [`${secret}\n`], store: neverStore, on: {} })));
    return [...lines, verification({ secret: `${secret}\n` }), verification({ secret: secret.slice(6) })];
  },
  ID_MISSING: () => refusal(deliveryOf({ headers: withoutStandard })),
  async BODY_MALFORMED() {
    const handshake = { verification_token: 'short' };
    return [...(await refusal(deliveryOf({ body: '{"type":' }))), ...(await refusal(deliveryOf({ body: handshake })))];
  },
  METHOD_NOT_ALLOWED: () => refusal({ ...deliveryOf(), method: 'PUT' }),
  BODY_TOO_LARGE: () => refusal(deliveryOf({ body: 'x'.repeat(300_001) })),
  async BODY_TIMEOUT() {
    const endless = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) });
    return observeFetch((options) => request(endless, { ...options, bodyTimeoutMs: 10 }));
  },
  async BODY_ABORTED() {
    const aborted = new ReadableStream({ start: (controller) => controller.error(new Error('aborted')) });
    return observeFetch((options) => request(aborted, options));
  },
  async UNHANDLED() {
    const delivery = deliveryOf({ body: unknown });
    const kept: KeptEvents = { ...noKeptEvents, keep: async ({ id }) => id === 'kept' };
    return [
      ...(await refusal(delivery)),
      ...(await refusal(delivery, { rejectUnhandled: true })),
      ...(await refusal(deliveryOf({ id: 'kept', body: unknown }), { keepUnhandled: kept })),
      ...(await refusal(delivery, { keepUnhandled: kept })),
    ];
  },
  BUSY: () =>
    observe(async (subject, send) => {
      const gate = Promise.withResolvers<void>();
      subject.work = () => gate.promise;
      const delivery = deliveryOf();
      const first = send(delivery);
      await eventually(() => expect(subject.handled).toHaveLength(1));
      await send(delivery);
      gate.resolve();
      await first;
    }),
  async HANDLER_FAILED() {
    const lines = await observe(
      async (subject, send) => {
        subject.work = fail;
        await send(deliveryOf());
        await send(deliveryOf({ body: unknown }));
      },
      { onUnhandled: fail },
    );
    const hanging = await observe(
      (subject, send) => {
        subject.work = never;
        return send(deliveryOf());
      },
      { handlerTimeoutMs: 10 },
    );
    const unreadable = await observeFetch(async (options) => {
      const receiver = createWebhookReceiver({ secrets: [secret], store: neverStore, on: {}, ...options });
      const { status, body } = await receiver.receive({ method: 'POST', headers: {}, body: fail });
      return new Response(body, { status });
    });
    return [...lines, ...hanging, ...unreadable, ...(await transactionFailures())];
  },
  async STORE_UNAVAILABLE() {
    const store = postgresStore(
      { transaction: () => new Promise<never>(() => {}), query: async () => [] },
      { concurrency: 1 },
    );
    void store.once('slow', async () => {});
    const late = await refusal(deliveryOf(), { store: { ...neverStore, once: never }, storeTimeoutMs: 10 });
    const replies = [null];
    const redis = redisStore({
      send: async () => (replies.length > 0 ? replies.pop() : fail()),
      leaseMs: 1_000,
    });
    const inbox = pgBossInbox(
      { transaction: (work) => work(undefined), query: async () => [{ id: 'refused' }] },
      { boss: { send: async () => null, complete: fail }, on: {} },
    );
    const errors = await Promise.allSettled([
      store.once('waiting', async () => {}),
      redis.once(
        'leased',
        (_, lost) => new Promise((_resolve, reject) => lost?.addEventListener('abort', () => reject(lost.reason))),
      ),
      inbox.accept({ id: 'refused', body: new Uint8Array(), unsigned: noHeaders }),
    ]);
    const messages = errors.map((result) => (result.status === 'rejected' ? messageOf(result.reason) : ''));
    return [...(await refusal(deliveryOf(), { store: neverStore })), ...late, ...messages];
  },
  CLOSING: () =>
    observe(async ({ running }, send) => {
      await (
        await running.close()
      ).closed;
      await send(deliveryOf());
    }),
};

function fail(): never {
  throw new Error('The disk is full.');
}

/** What the PostgreSQL store throws for handlers that spoil its transaction. */
async function transactionFailures(): Promise<string[]> {
  const database = await createTestDatabase({
    template: 'webhook_receiver_troubleshooting',
    prepare: async () => {},
  });
  const pool = new Pool({ connectionString: database.databaseUrl });
  const store = postgresStore(pool);
  await store.createTable();
  const failures = ['select 1/0', 'commit'].map((statement, index) =>
    store.once(`delivery_${index}`, async (transaction) => {
      await transaction.query(statement).catch(() => {});
    }),
  );
  failures.push(store.once('released', async (transaction) => transaction.release()));
  const settled = await Promise.allSettled(failures);
  await pool.end();
  await database.drop();
  return settled.map((result) => (result.status === 'rejected' ? String(result.reason.message) : 'no error'));
}

const responses = quotingSections(page, 'Responses of the receiver');

test('the page has a section for each code that a receiver responds', () => {
  const codes = [...new Set([...Object.keys(emitted), ...Object.keys(verificationCodes ?? {})])];
  expect(responses.map(({ heading }) => heading).toSorted()).toEqual(codes.toSorted());
});

test.each(responses)('the receiver emits what the page quotes for $heading', async ({ heading, quotes }) => {
  expect(quotes.join('\n')).toContain(`{"code":"${heading}"}`);
  const lines = (await emitted[heading]?.()) ?? [];
  expect({ stale: staleQuotes(quotes, lines), lines }).toEqual({ stale: [], lines });
});

/** The lines of the log, and the errors, of an inbox and of a store that cannot remove old rows. */
async function otherLines(): Promise<string[]> {
  const database = await createTestDatabase({ template: 'webhook_receiver_troubleshooting', prepare: async () => {} });
  const pool = new Pool({ connectionString: database.databaseUrl });
  const lines: string[] = [];
  const log = logTo((line, { err }) => void lines.push(line, messageOf(err)));
  const inbox = graphileWorkerInbox(pool, { on: { 'referral.converted': { '2026-11-01': fail } }, log });
  const hanging = graphileWorkerInbox(pool, {
    on: { 'referral.converted': { '2026-11-01': never } },
    handlerTimeoutMs: 10,
    log,
  });
  const silent = graphileWorkerInbox({ transaction: never, query: never }, { on: {}, storeTimeoutMs: 10, log });
  const small = graphileWorkerInbox(new Pool({ max: 1 }), { on: {}, log });
  await inbox.createTable();
  const insert = `insert into webhook_inbox_receipt (id, body, unsigned) values ($1, $2, '{}')`;
  await pool.query(insert, ['unhandled', JSON.stringify(unknown)]);
  await pool.query(insert, ['failing', JSON.stringify(converted)]);
  await pool.query(insert, ['malformed', '{}']);
  const run = async (id: string, { taskList } = inbox, signal = new AbortController().signal): Promise<void> => {
    await taskList['webhook']?.({ id }, { abortSignal: signal }).catch((error: Error) => {
      lines.push(error.message);
    });
  };
  for (const other of [hanging, silent, small]) await run('failing', other);
  for (const id of ['unhandled', 'failing', 'missing', 'malformed']) await run(id);
  await run('failing', inbox, AbortSignal.abort());
  const other = await pool.connect();
  await other.query(`begin; select from webhook_inbox_receipt where id = 'failing' for update`);
  await run('failing');
  await other.query('rollback');
  other.release();
  const malformed = deliveryOf({ body: { ...converted, data: {} } });
  const keepUnhandled: KeptEvents = {
    ...noKeptEvents,
    names: async () => [converted],
    page: async (_name, after) =>
      after === null ? [{ id: 'malformed', body: malformed.body, unsigned: noHeaders }] : [],
  };
  await createWebhookReceiver({ secrets: [secret], store: neverStore, on: {}, keepUnhandled, log }).processKept();
  const receiver = createWebhookReceiver({ secrets: [secret], store: neverStore, on: {}, log });
  await receiver.processPulled({ id: converted.id, payload: JSON.stringify(converted) });
  // @ts-expect-error -- the API returns null
  await receiver.processPulled({ id: 'a', payload: null });
  void receiver.receive({ method: 'POST', headers: {}, body: never });
  await receiver.close({ timeoutMs: 10 });
  // `postgres.test.ts` tests it with a login.
  const store = postgresTable('store', 'webhook_receipt', [], 'received_at');
  for (const code of ['42501', '57014']) {
    const transaction = () => Promise.reject(Object.assign(new Error('refused'), { code }));
    cleanUpOf({ transaction, query: async () => [] }, store, 'received_at', log)();
  }
  await eventually(() => expect(lines.filter((line) => line.startsWith('CLEAN_UP_FAILED'))).toHaveLength(2));
  await pool.end();
  await database.drop();
  return lines;
}

test('an inbox and a store log the other lines that the page quotes', async () => {
  const lines = await otherLines();
  const quotes = quotedLines(partOf(page, 'Other lines of the log'));
  expect(quotes).toHaveLength(17);
  expect({ stale: staleQuotes(quotes, lines), lines }).toEqual({ stale: [], lines });
});

test('the receiver responds to a repeated delivery what the page quotes', async () => {
  const lines = await observe(async (_subject, send) => {
    const delivery = deliveryOf();
    await send(delivery);
    await send(delivery);
  });
  const quotes = quotedLines(partOf(page, 'Wrong results without an error'));
  expect(quotes).toHaveLength(1);
  expect(staleQuotes(quotes, lines)).toEqual([]);
});
