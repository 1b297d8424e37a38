import { parseWebhookBody } from '@deedwire/webhook-events';
import { alarm } from './alarm.ts';
import { deliveryName, findHandler, type Handlers, type UnhandledEvent, type UnsignedHeaders } from './handlers.ts';
import {
  checkTransaction,
  cleanUpOf,
  connectionOf,
  createTableWith,
  field,
  isContention,
  type PostgresClient,
  type PostgresPool,
  type PostgresTransactions,
  quotedName,
} from './postgres-connection.ts';
import type { ReceiverLog } from './receiver.ts';
import type { Forgettable } from './store.ts';
import type { WebhookInbox } from './webhook-inbox.ts';

export interface PostgresInboxOptions<Transaction> {
  on: Handlers<Transaction>;
  /** The name of the table, with the schema if it has one. Defaults to `webhook_inbox`. */
  table?: string;
  /**
   * How many handlers run at once in this process. Each holds a connection, so the pool needs more connections than this.
   * Defaults to 5.
   */
  concurrency?: number;
  /**
   * How long to wait before each retry, in milliseconds. After the last retry, the event is kept as failed. Defaults to 80 retries
   * over three days: after 5 seconds, then twice as long each time, up to an hour.
   */
  retryDelaysMs?: readonly number[];
  /** How often to look for retries, and for events that other processes accepted, in milliseconds. Defaults to 1,000. */
  pollMs?: number;
  /** Defaults to `console`. */
  log?: ReceiverLog;
}

/** An event whose last retry failed. */
export interface FailedEvent {
  /** The `webhook-id` of the delivery. */
  readonly id: string;
  /** Null if this release cannot parse it. */
  readonly event: UnhandledEvent | null;
  readonly attempts: number;
  /** The message of the last error. */
  readonly error: string;
  readonly receivedAt: Date;
  readonly failedAt: Date;
}

/** An inbox in the receiver's PostgreSQL. */
export interface PostgresInbox extends WebhookInbox {
  /** Creates the table unless it exists. Call it at start or in a migration. */
  createTable(): Promise<void>;
  /** Begins to process events in this process, until `close`. Without it, this process only accepts them. */
  start(): void;
  /**
   * The events whose last retry failed, the newest first. They are kept for 40 days.
   *
   * @param options `limit` defaults to 100
   */
  failed(options?: { limit?: number }): Promise<readonly FailedEvent[]>;
  /**
   * Processes failed events again, with all retries.
   *
   * @param which ids, or all that failed at this time or later
   * @returns how many
   */
  retry(which: Forgettable): Promise<number>;
}

/** An event that this process took for one attempt. */
interface Claim {
  readonly id: string;
  /** With this one. */
  readonly attempts: number;
}

const hourMs = 60 * 60 * 1000;
const defaultDelaysMs = Array.from({ length: 80 }, (_, retry) => Math.min(5_000 * 2 ** retry, hourMs));
/** Within this time, the transaction of a handler locks the row. After a crash, the next attempt waits at least as long. */
const claimMs = 10_000;

/**
 * Stores deliveries in a table of the receiver's PostgreSQL, and runs each handler in one transaction with the mark that its event
 * is processed. So the changes that it makes in the transaction are made exactly once, whatever fails. Events are processed in no
 * particular order.
 *
 * @param database a `Pool` of `pg`, whose clients are then the transactions, or the functions of another library
 * @throws {TypeError} if an option is out of range
 */
export function postgresInbox<Client extends PostgresClient>(
  database: PostgresPool<Client>,
  options: PostgresInboxOptions<Client>,
): PostgresInbox;
export function postgresInbox<Transaction>(
  database: PostgresTransactions<Transaction>,
  options: PostgresInboxOptions<Transaction>,
): PostgresInbox;
export function postgresInbox(
  database: PostgresPool | PostgresTransactions<unknown>,
  options: PostgresInboxOptions<unknown>,
): PostgresInbox {
  const {
    on,
    table = 'webhook_inbox',
    concurrency = 5,
    retryDelaysMs = defaultDelaysMs,
    pollMs = 1_000,
    log = console,
  } = options;
  const name = quotedName(table);
  const maxAttempts = retryDelaysMs.length + 1;
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new TypeError('concurrency must be an integer of at least 1.');
  if (!retryDelaysMs.every((delayMs) => delayMs >= 0 && delayMs <= 1000 * hourMs))
    throw new TypeError('retryDelaysMs must be numbers from 0 to 3,600,000,000.');
  if (!(pollMs >= 10 && pollMs <= hourMs)) throw new TypeError('pollMs must be a number from 10 to 3,600,000.');
  const connection = connectionOf(database);
  const cleanUp = cleanUpOf(connection, name, 'ended_at');
  const closing = new AbortController();
  const work = alarm();
  let loop: Promise<void> | undefined;
  let isUnavailable = false;

  function run(text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    return connection.transaction((opened) => connection.query(opened, text, values));
  }

  async function processAll(): Promise<void> {
    const running = new Set<Promise<void>>();
    while (!closing.signal.aborted) {
      for (const claim of await take(concurrency - running.size)) {
        const attempt = handle(claim).finally(() => {
          running.delete(attempt);
          work.ring();
        });
        running.add(attempt);
      }
      cleanUp();
      await work.wait(pollMs);
    }
    await Promise.all(running);
  }

  /** Counts the attempts in advance, so that an event that ends the process is not retried for ever. */
  async function take(limit: number): Promise<readonly Claim[]> {
    if (limit === 0) return [];
    try {
      // The index on due_at serves it. Rows that are being processed are locked.
      const rows = await run(
        `with due as materialized (
          select id from ${name} where state = 'waiting' and due_at <= now() order by due_at limit $1 for update skip locked
        )
        update ${name} as inbox set
          attempts = attempts + 1,
          due_at = now() + greatest($2::float8, ($3::float8[])[attempts + 1]) * interval '1 millisecond'
        from due where inbox.id = due.id returning inbox.id, attempts`,
        [limit, claimMs, retryDelaysMs],
      );
      isUnavailable = false;
      return rows.map((row) => ({ id: String(field(row, 'id')), attempts: Number(field(row, 'attempts')) }));
    } catch (error) {
      if (isUnavailable || isContention(error)) return [];
      isUnavailable = true;
      log.error('STORE_UNAVAILABLE: The inbox could not be read. It is read again until that succeeds.', error);
      return [];
    }
  }

  async function handle(claim: Claim): Promise<void> {
    const { id, attempts } = claim;
    let delivery = id;
    try {
      if (attempts > maxAttempts)
        throw new Error('The last attempt has no result: its process was stopped, or retryDelaysMs was shortened.');
      await connection.transaction(async (opened) => {
        // The lock is held until the transaction ends, also if the process is killed.
        const [row] = await connection.query(
          opened,
          `select body, unsigned, pg_current_xact_id()::text as xid from ${name}
          where id = $1 and attempts = $2 and state = 'waiting' for update`,
          [id, attempts],
        );
        // The claim ended before a connection was available.
        if (row === undefined) return;
        const parsed = parseWebhookBody(String(field(row, 'body')));
        if (parsed.kind !== 'event' && parsed.kind !== 'unknown_event')
          throw new Error('The stored body is malformed.');
        delivery = deliveryName(parsed.event, id);
        const handler = parsed.kind === 'event' ? findHandler(on, parsed.event) : null;
        if (parsed.kind === 'unknown_event' || handler === null) throw new Error('This process has no handler for it.');
        const unsigned: UnsignedHeaders = JSON.parse(String(field(row, 'unsigned')));
        await handler(parsed.event, { id, transaction: opened, signal: closing.signal, meta: { unsigned } });
        await checkTransaction(connection, opened, field(row, 'xid'));
        await connection.query(
          opened,
          `update ${name} set state = 'processed', ended_at = clock_timestamp(), body = null, unsigned = null, error = null
          where id = $1`,
          [id],
        );
      });
    } catch (error) {
      await fail(claim, delivery, error);
    }
  }

  async function fail({ id, attempts }: Claim, delivery: string, error: unknown): Promise<void> {
    // An attempt that `close` interrupts does not count.
    const isInterrupted = closing.signal.aborted && attempts <= maxAttempts;
    const counted = isInterrupted ? attempts - 1 : Math.min(attempts, maxAttempts);
    const delayMs = isInterrupted ? 0 : retryDelaysMs[attempts - 1];
    const next = delayMs === undefined ? 'It is kept as failed.' : `It is retried in ${delayMs / 1000} s.`;
    log.error(`HANDLER_FAILED: ${delivery} failed in attempt ${Math.min(attempts, maxAttempts)}. ${next}`, error);
    const message = (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').slice(0, 1000);
    await run(
      `update ${name} set
        state = case when $3::float8 is null then 'failed' else state end,
        ended_at = case when $3::float8 is null then clock_timestamp() end,
        due_at = clock_timestamp() + coalesce($3::float8, 0) * interval '1 millisecond',
        attempts = $4, error = $5
      where id = $1 and attempts = $2 and state = 'waiting'`,
      [id, attempts, delayMs ?? null, counted, message],
    ).catch(() => {
      // The claim has set the time of the next attempt.
    });
  }

  return {
    handles: (event) => findHandler(on, event) !== null,

    async accept({ id, body, unsigned }) {
      let rows: readonly unknown[];
      try {
        rows = await run(
          `insert into ${name} (id, body, unsigned) values ($1, $2, $3) on conflict do nothing returning id`,
          [id, new TextDecoder().decode(body), JSON.stringify(unsigned)],
        );
      } catch (error) {
        if (isContention(error)) return 'busy';
        throw rootCause(error);
      }
      if (rows.length === 0) return 'duplicate';
      work.ring();
      return 'accepted';
    },

    async forget(which) {
      const { condition, value } = endedAs('processed', which);
      return (await run(`delete from ${name} where ${condition} returning id`, [value])).length;
    },

    async retry(which) {
      const { condition, value } = endedAs('failed', which);
      const rows = await run(
        `update ${name} set state = 'waiting', attempts = 0, due_at = now(), ended_at = null where ${condition} returning id`,
        [value],
      );
      work.ring();
      return rows.length;
    },

    async failed({ limit = 100 } = {}) {
      const rows = await run(
        `select id, body, attempts, error, extract(epoch from received_at)::float8 as received, extract(epoch from ended_at)::float8 as ended
        from ${name} where state = 'failed' order by ended_at desc limit $1`,
        [limit],
      );
      return rows.map(failedEvent);
    },

    createTable: () =>
      createTableWith(
        connection,
        table,
        `id text primary key,
        state text not null default 'waiting' check (state in ('waiting', 'processed', 'failed')),
        body text,
        unsigned text,
        attempts integer not null default 0,
        error text,
        received_at timestamptz not null default now(),
        due_at timestamptz not null default now(),
        ended_at timestamptz`,
        { due_at: `where state = 'waiting'`, ended_at: '' },
      ),

    start() {
      if (closing.signal.aborted) throw new Error('The inbox is closed.');
      loop ??= processAll();
    },

    async close() {
      closing.abort();
      work.ring();
      await loop;
    },
  };
}

function endedAs(state: 'failed' | 'processed', which: Forgettable): { condition: string; value: unknown } {
  return 'ids' in which
    ? { condition: `state = '${state}' and id = any($1::text[])`, value: which.ids }
    : { condition: `state = '${state}' and ended_at >= $1::timestamptz`, value: which.since.toISOString() };
}

function failedEvent(row: unknown): FailedEvent {
  const parsed = parseWebhookBody(String(field(row, 'body')));
  return {
    id: String(field(row, 'id')),
    event: parsed.kind === 'event' || parsed.kind === 'unknown_event' ? parsed.event : null,
    attempts: Number(field(row, 'attempts')),
    error: String(field(row, 'error')),
    receivedAt: new Date(Number(field(row, 'received')) * 1000),
    failedAt: new Date(Number(field(row, 'ended')) * 1000),
  };
}

/** Some libraries put the parameters of a statement, here the body, into the message of their error, which is logged. */
function rootCause(error: unknown): unknown {
  const cause = field(error, 'cause');
  return cause === undefined ? error : rootCause(cause);
}
