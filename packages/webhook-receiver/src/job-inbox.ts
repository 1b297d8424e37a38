import { checkTimeouts, Deadline, DeadlineError } from './deadline.ts';
import { type AnyEvent, checkEvents, type EventOf, type EventPackage } from './events.ts';
import { field } from './field.ts';
import { runInTransaction } from './handler-transaction.ts';
import { checkHandlers, deliveryName, findHandler, type Handlers, pinsOf, type UnsignedHeaders } from './handlers.ts';
import { type LogFields, type ReceiverLog, writeLine } from './log.ts';
import { turnsOfJobs } from './pool-turns.ts';
import {
  checkPoolMax,
  connectionOf,
  isContention,
  poolMax,
  type PostgresPool,
  type PostgresTransactions,
  rootCause,
} from './postgres-connection.ts';
import { postgresPositions } from './postgres-positions.ts';
import { cleanUpOf, createTable, postgresTable, type PostgresTable, sqlOf } from './postgres-table.ts';
import { Runs } from './runs.ts';
import type { Forgettable } from './store.ts';
import type { AcceptResult, InboxDelivery, WebhookInbox } from './webhook-inbox.ts';

export interface JobInboxOptions<Events extends EventPackage, Transaction> {
  /** As that of the receiver. */
  events: Events;
  on: Handlers<EventOf<Events>, Transaction>;
  /** The name of the table, with the schema if it has one. Defaults to `webhook_inbox_receipt`. */
  table?: string;
  /**
   * How long a handler may run, in milliseconds. Afterwards its `signal` aborts, the connection of its transaction is closed if
   * it is one of a `Pool`, and the job fails. Defaults to 900,000.
   */
  handlerTimeoutMs?: number;
  /**
   * How long a job may wait for the database before and after its handler, in milliseconds. Afterwards its connection is closed
   * if it is one of a `Pool`, and the job fails. Defaults to 30,000.
   */
  storeTimeoutMs?: number;
  /** Defaults to `console`. */
  log?: ReceiverLog;
}

/** An inbox whose deliveries are jobs of a library, which runs them, retries them and limits how many run at once. */
export interface JobInbox extends WebhookInbox {
  /** Creates the table of the inbox unless it exists. The library creates its own tables. */
  createTable(): Promise<void>;
  /**
   * Adds jobs for deliveries that are not processed, for example after the library has given up their jobs. A delivery with
   * several jobs is processed once.
   *
   * @param which ids, or all that were received at this time or later
   * @returns how many
   */
  retry(which: Forgettable): Promise<number>;
}

/** Runs one statement in a transaction. */
export type Query = (text: string, values: readonly unknown[]) => Promise<readonly unknown[]>;

/** Adds the job of a delivery in the transaction of `query`. Resolves with the id of the job, or null if there is none. */
export type AddJob = (query: Query, id: string) => Promise<unknown>;

/** An inbox, and the function that its jobs call. */
export interface JobInboxCore extends JobInbox {
  /**
   * Processes a delivery unless it is processed.
   *
   * @param payload of the job
   * @param stopping aborts when the process stops
   */
  readonly runJob: (payload: unknown, stopping?: AbortSignal) => Promise<void>;
}

/** The column `unsigned` also has the source. The releases before this one did not store it. */
interface StoredHeaders extends UnsignedHeaders, Pick<InboxDelivery, 'source'> {}

/** A job, for the log. */
interface Job {
  /** That of the delivery. */
  readonly id: string;
  /** Undefined until the job has read it. */
  event?: AnyEvent;
}

/** What can end a handler early. */
interface Interruptions {
  /** The process stops. */
  readonly stopping: AbortSignal | undefined;
  /** The connection of the transaction is lost. */
  readonly lost: AbortSignal | undefined;
  /** Of the statements of the inbox. When it expires, the connection is closed. */
  readonly deadline: Deadline;
}

/**
 * What became of a job.
 *
 * - `processed`: its delivery is processed, now or before.
 * - `busy`: another job of the delivery runs.
 * - `stopped`: the library has stopped the job, so its handler was not called.
 */
type JobResult = 'busy' | 'processed' | 'stopped';

const defaultInboxTable = 'webhook_inbox_receipt';
/** UTF-16 code units of a message or a stack. */
const storableMax = 10_000;

/** A delivery without `processed_at` waits for a job. Its body is removed when it is processed. */
export function inboxTable(table: string = defaultInboxTable): PostgresTable {
  return postgresTable(
    'inbox',
    table,
    [
      'id text primary key',
      'body text',
      'unsigned text',
      'received_at timestamptz not null default now()',
      'processed_at timestamptz',
    ],
    'processed_at',
  );
}

/**
 * Returns the SQL that creates the table of an inbox, for a migration. The library has its own.
 *
 * @param grantTo the login of the service, which gets the rights on the table
 */
export function inboxSql(table: string = defaultInboxTable, grantTo?: string): string {
  return sqlOf(inboxTable(table), grantTo);
}

/** @throws {Error} if the library added no job, so that the transaction is rolled back */
export async function addJobs(query: Query, addJob: AddJob, rows: readonly unknown[]): Promise<void> {
  for (const row of rows) {
    const id = String(field(row, 'id'));
    if ((await addJob(query, id)) === null)
      throw new Error(`No job was added for ${id}, so it is not stored. Check the policy of the queue.`);
  }
}

export function jobInbox(
  database: PostgresPool | PostgresTransactions<unknown>,
  addJob: AddJob,
  {
    events,
    on,
    table,
    handlerTimeoutMs = 900_000,
    storeTimeoutMs = 30_000,
    log = console,
  }: JobInboxOptions<EventPackage, unknown>,
): JobInboxCore {
  checkEvents(events);
  checkHandlers(events, on);
  checkTimeouts({ handlerTimeoutMs, storeTimeoutMs });
  const created = inboxTable(table);
  const { name } = created;
  const connection = connectionOf(database);
  const max = poolMax(database);
  const turns = turnsOfJobs(database);
  const runs = new Runs();
  const cleanUp = cleanUpOf(connection, created, 'processed_at', log);

  function inTransaction<Result>(work: (query: Query) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return connection.transaction((opened) => work((text, values) => connection.query(opened, text, values)), signal);
  }

  /** Runs the handler in the transaction that marks the receipt. */
  async function handle(opened: unknown, job: Job, { stopping, lost, deadline }: Interruptions): Promise<JobResult> {
    const { id } = job;
    const [row] = await connection.query(
      opened,
      `select body, unsigned, pg_current_xact_id()::text as xid from ${name}
      where id = $1 and processed_at is null for update skip locked`,
      [id],
    );
    if (row === undefined) return (await isProcessed(opened, id)) ? 'processed' : 'busy';
    const parsed = events.parseWebhookBody(String(field(row, 'body')));
    if (parsed.kind !== 'event' && parsed.kind !== 'unknown_event') throw new Error('The stored body is malformed.');
    job.event = parsed.event;
    const handler = parsed.kind === 'event' ? findHandler(on, parsed.event) : null;
    if (parsed.kind === 'unknown_event' || handler === null)
      throw new Error(`This process has no handler for ${deliveryName(parsed.event, id)}.`);
    if (stopping?.aborted === true) return 'stopped';
    const { source = 'push', ...unsigned }: StoredHeaders = JSON.parse(String(field(row, 'unsigned')));
    await runInTransaction(connection, opened, field(row, 'xid'), async (transaction) => {
      deadline.pause();
      try {
        await runs.run(
          'handler',
          handlerTimeoutMs,
          (signal) => handler(parsed.event, { id, transaction, signal, meta: { source, unsigned } }),
          lost,
          stopping,
        );
      } catch (error) {
        // The handler may still be in a statement.
        if (error instanceof DeadlineError) deadline.expire(error);
        // Without its connection, no handler can succeed.
        throw lost?.aborted === true ? lost.reason : error;
      } finally {
        deadline.resume();
      }
    });
    await connection.query(
      opened,
      `update ${name} set processed_at = clock_timestamp(), body = null, unsigned = null where id = $1`,
      [id],
    );
    return 'processed';
  }

  /** @throws {Error} if there is no row */
  async function isProcessed(opened: unknown, id: string): Promise<boolean> {
    const [row] = await connection.query(
      opened,
      `select processed_at is not null as "isProcessed" from ${name} where id = $1`,
      [id],
    );
    if (row === undefined)
      throw new Error(
        `The table ${name} has no row for ${id}. It was forgotten, so that its job can be deleted, or this process has not the database and the table of the process that received it.`,
      );
    return field(row, 'isProcessed') === true;
  }

  async function process(job: Job, stopping: AbortSignal | undefined): Promise<JobResult> {
    checkPoolMax(max);
    const result = await turns.run(async () => {
      const deadline = new Deadline(
        storeTimeoutMs,
        `The database took longer than storeTimeoutMs (${storeTimeoutMs} ms).`,
      );
      try {
        return await deadline.race(
          connection.transaction((opened, lost) => handle(opened, job, { stopping, lost, deadline }), deadline.signal),
        );
      } finally {
        deadline.stop();
      }
    }, stopping);
    return result ?? 'stopped';
  }

  return {
    handles: (event) => findHandler(on, event) !== null,

    subscription: () => pinsOf(on),

    async accept({ id, alias, body, unsigned, source, again = false }, signal) {
      try {
        return await inTransaction(async (query): Promise<AcceptResult> => {
          if (again)
            await query(
              `delete from ${name} where id = any($1::text[]) and processed_at is not null
              and not exists (select from ${name} where id = $2 and processed_at is null)`,
              [alias === undefined ? [id] : [id, alias], id],
            );
          if (alias !== undefined) {
            // It has no job, and is remembered as long as a processed delivery.
            const recorded = await query(
              `insert into ${name} (id, processed_at) values ($1, now()) on conflict do nothing returning id`,
              [alias],
            );
            if (recorded.length === 0) return 'duplicate';
          }
          // Waits while another transaction inserts the same id.
          const inserted = await query(
            `insert into ${name} (id, body, unsigned) values ($1, $2, $3) on conflict do nothing returning id`,
            [id, new TextDecoder().decode(body), JSON.stringify({ ...unsigned, source })],
          );
          await addJobs(query, addJob, inserted);
          return inserted.length === 0 ? 'duplicate' : 'accepted';
        }, signal);
      } catch (error) {
        if (isContention(error)) return 'busy';
        throw rootCause(error);
      }
    },

    async runJob(payload, stopping) {
      const job: Job = { id: String(field(payload, 'id')) };
      let result: JobResult;
      try {
        result = await process(job, stopping);
      } catch (error) {
        const message = `The handler of ${nameOf(job)} failed. Its library retries the job, unless this was the last attempt.`;
        writeLine(log, 'error', { code: 'HANDLER_FAILED', ...fieldsOf(job), err: error }, message);
        throw storable(error);
      }
      if (result !== 'processed') {
        const [code, reason] =
          result === 'busy'
            ? ['BUSY', `Another job processes ${nameOf(job)}.`]
            : ['CLOSING', `The library stopped the job of ${nameOf(job)} before its handler.`];
        const message = `${reason} The library retries this one, unless this was the last attempt.`;
        writeLine(log, 'warn', { code, ...fieldsOf(job) }, message);
        throw new Error(message);
      }
      cleanUp();
    },

    async forget(which) {
      const { condition, value } = selected('processed_at', which);
      return inTransaction(async (query) => {
        const rows = await query(`delete from ${name} where processed_at is not null and ${condition} returning id`, [
          value,
        ]);
        return rows.length;
      });
    },

    async retry(which) {
      const { condition, value } = selected('received_at', which);
      return inTransaction(async (query) => {
        const rows = await query(`select id from ${name} where processed_at is null and ${condition}`, [value]);
        await addJobs(query, addJob, rows);
        return rows.length;
      });
    },

    createTable: () => createTable(connection, created),

    positions: postgresPositions(connection, table ?? defaultInboxTable),
  };
}

function nameOf({ id, event }: Job): string {
  return event === undefined ? id : deliveryName(event, id);
}

function fieldsOf({ id, event }: Job): Pick<LogFields, 'id' | 'type' | 'version'> {
  return event === undefined ? { id } : { id, type: event.type, version: event.version };
}

/**
 * Returns an error that the library can store as JSON in PostgreSQL, which refuses NUL and half of a surrogate pair: the attempt
 * would not be recorded, and graphile-worker would stop. It has no other properties, such as the `detail` of an error of `pg`.
 */
function storable(error: unknown): Error {
  const [message, stack] = ['message', 'stack'].map((key) => {
    const text = String(field(error, key) ?? error).slice(0, storableMax);
    // UTF-8 has no surrogates.
    return new TextDecoder().decode(new TextEncoder().encode(text)).replaceAll('\0', '\uFFFD');
  });
  return Object.assign(new Error(message), { stack });
}

function selected(since: string, which: Forgettable): { condition: string; value: unknown } {
  return 'ids' in which
    ? { condition: 'id = any($1::text[])', value: which.ids }
    : { condition: `${since} >= $1::timestamptz`, value: which.since.toISOString() };
}
