import { randomUUID } from 'node:crypto';
import { type ClientBase, DatabaseError, type PoolClient, type QueryConfig, type QueryResultRow } from 'pg';
import { createClient, createPool, type OnExhausted } from '../connections/connect.ts';
import { KeptClients, type PoolState } from '../connections/kept-clients.ts';
import {
  beginPooled,
  keepCommitsOfSession,
  planOnceByIndexes,
  type SessionSettings,
} from '../connections/session-settings.ts';
import {
  backgroundTimeouts,
  responseTimeoutMs,
  timeoutSettings,
  type DatabaseTimeouts,
} from '../connections/timeouts.ts';
import {
  isLostStatement,
  LockTimeoutError,
  StoreUnavailableError,
  toStoreError,
  UnconfirmedCommitError,
} from '../kernel/errors.ts';
import { createNotifier, type Notifier } from '../notifications/notifier.ts';
import { type Database, type Statement, type Transaction, sql } from '../statements/database.ts';
import { beginInIndexOrder, plansInIndexOrder, setPlanning } from '../statements/planning.ts';
import { type QueryAnswer, queryInTime, queryPreparedInTime } from '../statements/query-in-time.ts';
import { timeStatement, type SlowStatementOptions } from '../statements/slow-statements.ts';
import { drawnKeys, retryRecordIdCollisions } from './record-id-collision.ts';
import type { SharedWrite, WriteResult } from './shared-writes/row-set.ts';
import { SharedWriter } from './shared-writes/shared-writer.ts';

export interface Store extends Database {
  /**
   * Runs `work` in a transaction. Commits when `work` returns, and rolls back when it throws. Runs `work` again, in a new
   * transaction, if it drew a record id that already exists: `work` must change nothing outside the transaction that a second
   * run would not overwrite.
   *
   * @throws {StoreUnavailableError} when the database is unavailable. After a COMMIT without a response, the transaction may
   * have been committed.
   */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /**
   * Commits the rows of a write in a transaction with others: for changes that insert rows only, and come often.
   *
   * @throws {StoreUnavailableError} when the database is unavailable, or too many writes wait. After a COMMIT without a response,
   * the write may have been committed.
   */
  write<Answer>(write: SharedWrite<Answer>): Promise<WriteResult<Answer>>;
  /** Closes all connections after the last notification has been sent. */
  close(): Promise<void>;
}

/** A store with its own pool of connections. */
export interface PooledStore extends Store {
  /** Without the connections of `write` and of notifications. */
  readonly poolState: () => PoolState;
  /**
   * Whether each connection keeps the statements that it prepares, as far as known: false behind a transaction pooler that does not
   * track them, once a statement was lost. True if none are prepared.
   */
  readonly keepsStatements: () => boolean;
  /**
   * Finds out whether connections keep the statements that they prepare, on two of them.
   *
   * @throws {StoreUnavailableError} when the database is unavailable
   */
  readonly probeStatements: () => Promise<void>;
}

export interface StoreOptions {
  databaseUrl: string;
  /**
   * Where `databaseUrl` is a transaction pooler: a direct connection, for notifications. Defaults to `databaseUrl`.
   */
  directUrl?: string | undefined;
  /**
   * Each connection prepares a statement once. Not behind a transaction pooler that does not track prepared statements. Without
   * `directUrl`, false means that `databaseUrl` is a transaction pooler. Defaults to true without `directUrl`, and to false with it.
   */
  prepares?: boolean | undefined;
  /** The tables of the application whose ids `new_record_id()` draws. Defaults to none. */
  tables?: readonly string[];
  /** Shown by `pg_stat_activity`. */
  applicationName: string;
  /** Defaults to 10, without the connection that sends notifications. */
  maxConnections?: number;
  /**
   * Each connection plans a statement once, for any values, and reads whole tables only where no index serves them. Set it where
   * every statement has an index. Behind a transaction pooler it applies inside transactions only.
   */
  plansOnceByIndexes?: boolean;
  /** Defaults to `backgroundTimeouts`. */
  timeouts?: DatabaseTimeouts;
  /**
   * Connections stay open when they are idle. For work that comes in bursts: opening many connections at once and planning
   * their statements takes some hundred milliseconds.
   */
  staysOpen?: boolean;
  /** Called when an idle connection breaks. The pool replaces it. */
  onError?: (error: Error) => void;
  onExhausted?: OnExhausted;
  /** Called when a notification could not be sent. No work is lost: workers also poll. */
  onNotifyError?: (error: unknown) => void;
  /** Reports slow statements. Not set: reports none. */
  slowStatement?: SlowStatementOptions;
}

const defaultMaxConnections = 10;

/** Opens a pool of connections. It connects at the first statement. */
export function createStore(options: StoreOptions): PooledStore {
  const { timeouts = backgroundTimeouts } = options;
  const settings: SessionSettings = {
    ...timeoutSettings(timeouts),
    ...(options.plansOnceByIndexes === true && planOnceByIndexes),
  };
  const prepares = options.prepares ?? options.directUrl === undefined;
  const isPooled = !prepares || options.directUrl !== undefined;
  const keepCommits = (client: ClientBase): Promise<unknown> =>
    queryInTime(client, { text: keepCommitsOfSession }, responseTimeoutMs(timeouts));
  // A transaction pooler rejects settings at connection, so behind one each transaction sets them.
  const begin = isPooled ? beginPooled(settings) : 'begin';
  const beginInOrder = beginInIndexOrder(settings);
  const pool = createPool(options.databaseUrl, {
    application_name: options.applicationName,
    max: options.maxConnections ?? defaultMaxConnections,
    ...(options.staysOpen === true && { idleTimeoutMillis: 0 }),
    connectionTimeoutMillis: timeouts.connectMs,
    onExhausted: options.onExhausted,
    ...(!isPooled && { settings, onConnect: keepCommits }),
  });
  // Without this handler, a restart of the server would end this process.
  pool.on('error', (error) => options.onError?.(error));
  const clients = new KeptClients(pool, (error) => options.onError?.(error));
  const notifier = createNotifier({
    databaseUrl: options.directUrl ?? options.databaseUrl,
    applicationName: `${options.applicationName}-notify`,
    onError: (error) => options.onNotifyError?.(error),
  });

  const { slowStatement } = options;
  const writerSettings = { ...settings, ...planOnceByIndexes };
  const keys = drawnKeys(options.tables);
  const writer = new SharedWriter({
    drawnKeys: keys,
    async connect() {
      const client = createClient(options.databaseUrl, {
        application_name: `${options.applicationName}-writes`,
        connectionTimeoutMillis: timeouts.connectMs,
        pipeline: true,
        onExhausted: options.onExhausted,
        ...(!isPooled && { settings: writerSettings }),
      });
      await client.connect();
      if (!isPooled) await keepCommits(client);
      return client;
    },
    timeoutMs: responseTimeoutMs(timeouts),
    begin: isPooled ? beginPooled(writerSettings) : 'begin',
    prepares,
    lockMs: timeouts.lockMs,
    deadlineMs: timeouts.connectMs + responseTimeoutMs(timeouts),
    notify: (payload) => notifier.notify(payload),
    notifiesWithCommit: () => !isPooled && notifier.leavesToCaller(),
    slowStatement,
  });
  const timeoutMs = responseTimeoutMs(timeouts);
  const connections: Connections = { clients, timeoutMs, notifier, slowStatement, prepares, hasLostStatements: false };
  const probe = sql(`probe-${randomUUID()}`)`select 1`;
  const alone: Send = (query) => sendAlone(connections, query, false);
  const inIndexOrder: Send = (query) => sendAlone(connections, query, true);

  return {
    query(statement, values) {
      if (statement.planning !== 'in-index-order')
        return retryRecordIdCollisions(() => run(alone, statement, values, connections), keys);
      // Behind a transaction pooler, a setting of the session would also apply to others.
      return isPooled
        ? runTransaction(connections, beginInOrder, (transaction) => transaction.query(statement, values))
        : run(inIndexOrder, { name: statement.name, text: statement.text }, values, connections);
    },

    transaction: (work) => retryRecordIdCollisions(() => runTransaction(connections, begin, work), keys),

    write: (write) => writer.write(write),

    poolState: () => clients.state(),

    keepsStatements: () => !connections.hasLostStatements,

    async probeStatements() {
      if (!prepares) return;
      try {
        if (!(await keepsStatement(connections, probe))) connections.hasLostStatements = true;
      } catch (error) {
        throw toStoreError(error);
      }
    },

    async close() {
      await writer.close();
      await notifier.close();
      await clients.end();
    },
  };
}

/** Sends a query to the server. */
type Send = <Row extends QueryResultRow>(query: QueryConfig) => Promise<QueryAnswer<Row>>;

interface Connections {
  clients: KeptClients;
  /** Of the response to a query. */
  timeoutMs: number;
  notifier: Notifier;
  slowStatement: SlowStatementOptions | undefined;
  /** Not behind a transaction pooler that does not track prepared statements: a connection of the server has those of others. */
  prepares: boolean;
  /** A statement was not found that a connection had prepared, or was found before it had. */
  hasLostStatements: boolean;
}

/**
 * Prepares a statement on a connection, and runs it there again while a transaction of another one is open: a transaction pooler
 * gives the other one the connection of the server that the first one has just used.
 */
async function keepsStatement({ clients, timeoutMs }: Connections, probe: QueryConfig): Promise<boolean> {
  const taken: PoolClient[] = [];
  let isBroken = false;
  try {
    const first = await clients.take();
    taken.push(first);
    const second = await clients.take();
    taken.push(second);
    await queryPreparedInTime(first, probe, timeoutMs);
    await queryPreparedInTime(second, { text: 'begin' }, timeoutMs);
    await queryPreparedInTime(first, probe, timeoutMs);
    await queryPreparedInTime(second, { text: 'rollback' }, timeoutMs);
    return true;
  } catch (error) {
    isBroken = true;
    if (isLostStatement(error)) return false;
    throw error;
  } finally {
    for (const client of taken) clients.give(client, isBroken);
  }
}

/** Sends a query on its own connection. */
function sendAlone<Row extends QueryResultRow>(
  connections: Connections,
  query: QueryConfig,
  isInIndexOrder: boolean,
): Promise<QueryAnswer<Row>> {
  const taken = connections.clients.take();
  return taken instanceof Promise
    ? taken.then((client) => sendOn(client, connections, query, isInIndexOrder))
    : sendOn(taken, connections, query, isInIndexOrder);
}

/** Gives the connection back. */
function sendOn<Row extends QueryResultRow>(
  client: PoolClient,
  { clients, timeoutMs }: Connections,
  query: QueryConfig,
  isInIndexOrder: boolean,
): Promise<QueryAnswer<Row>> {
  const answered =
    plansInIndexOrder(client) === isInIndexOrder
      ? queryPreparedInTime<Row>(client, query, timeoutMs)
      : setPlanning(client, isInIndexOrder, timeoutMs).then(() => queryPreparedInTime<Row>(client, query, timeoutMs));
  return answered.then(
    (answer) => {
      clients.give(client, false);
      return answer;
    },
    (error: unknown) => {
      clients.give(client, breaksConnection(toStoreError(error)));
      throw error;
    },
  );
}

async function runTransaction<Result>(
  connections: Connections,
  begin: string,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const { clients, timeoutMs, notifier, slowStatement } = connections;
  const client = await connectForTransaction(clients);
  let broken: Error | undefined;
  // A connection that breaks between two statements reports it by this event only.
  const onError = (error: Error): void => {
    broken = error;
  };
  client.on('error', onError);
  const send: Send = (query) => queryPreparedInTime(client, query, timeoutMs);
  const payloads = new Set<string>();
  try {
    if (plansInIndexOrder(client)) await setPlanning(client, false, timeoutMs);
    await send({ text: begin });
    const result = await work({
      query: (statement, values) => run(send, statement, values, connections),
      notifyAfterCommit: (payload = '') => payloads.add(payload),
    });
    await commit(send, slowStatement);
    for (const payload of payloads) notifier.notify(payload);
    return result;
  } catch (error) {
    const storeError = toStoreError(error);
    if (breaksConnection(storeError)) {
      // Closing the connection rolls back without waiting for a server that may never respond.
      broken = storeError;
    } else {
      await send({ text: 'rollback' }).catch((rollbackError: Error) => {
        broken ??= rollbackError;
      });
    }
    throw storeError;
  } finally {
    client.off('error', onError);
    clients.give(client, broken !== undefined);
  }
}

/**
 * A statement that waited too long for a lock has failed, and nothing else. The server reports that before it releases the locks
 * of the statement: on the same connection, the next statement runs when they are released.
 */
function breaksConnection(error: unknown): error is StoreUnavailableError {
  return error instanceof StoreUnavailableError && !(error instanceof LockTimeoutError);
}

async function connectForTransaction(clients: KeptClients): Promise<PoolClient> {
  try {
    return await clients.take();
  } catch (error) {
    throw toStoreError(error);
  }
}

/** PostgreSQL responds to COMMIT with ROLLBACK, not with an error, if a statement failed and `work` caught its error. */
async function commit(send: Send, slowStatement: SlowStatementOptions | undefined): Promise<void> {
  const { command } = await timeStatement(slowStatement, 'commit', () => send({ text: 'commit' })).catch(
    (error: unknown) => {
      const isUnconfirmed = !(error instanceof DatabaseError) && toStoreError(error) instanceof StoreUnavailableError;
      throw isUnconfirmed ? new UnconfirmedCommitError(error) : error;
    },
  );
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back, because a statement in it failed.');
}

async function run<Row extends QueryResultRow>(
  send: Send,
  statement: Statement,
  values: readonly unknown[],
  connections: Connections,
): Promise<Row[]> {
  const { slowStatement, prepares } = connections;
  try {
    const { name, text, planning } = statement;
    // An unnamed statement is planned at every execution.
    const query = () => send<Row>({ ...(prepares && planning === undefined && { name }), text, values: [...values] });
    const { rows } = await timeStatement(slowStatement, name, query);
    return rows;
  } catch (error) {
    // The stack of pg ends at its socket. This one leads to the caller.
    if (error instanceof DatabaseError) Error.captureStackTrace(error);
    if (prepares && isLostStatement(error)) connections.hasLostStatements = true;
    throw toStoreError(error);
  }
}
