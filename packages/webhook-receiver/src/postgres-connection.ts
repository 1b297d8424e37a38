import { field } from './field.ts';

/** The part of a connection of `pg` that the store uses. */
export interface PostgresQueryable {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The part of a `Pool` of `pg` that the store uses. */
export interface PostgresPool<Client extends PostgresClient = PostgresClient> extends PostgresQueryable {
  /** `max` is the maximum number of connections. `pg` has 10 unless it is set. */
  readonly options?: { readonly max?: number };
  connect(): Promise<Client>;
}

/** What a pool connects to: for `pg`, its `PoolClient`. The overload of `connect` with a callback has no promise. */
export type PostgresClientOf<Pool> = Pool extends {
  connect: { (): Promise<infer Client>; (...callback: never[]): unknown };
}
  ? Client
  : Pool extends { connect(): Promise<infer Client> }
    ? Client
    : never;

export interface PostgresClient extends PostgresQueryable {
  release(error?: boolean | Error): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/** Any library that opens transactions, for example Kysely, Drizzle or Prisma. */
export interface PostgresTransactions<Transaction> {
  /** Opens a transaction, runs the work in it, and commits. Rolls back and throws the error of the work if it fails. */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /** Runs one statement in the transaction, with parameters `$1`, `$2`, …, and returns its rows. */
  query(transaction: Transaction, text: string, values: readonly unknown[]): Promise<readonly unknown[]>;
}

/** Transactions that can be given up. */
export interface PostgresConnection<Transaction> extends PostgresTransactions<Transaction> {
  /**
   * @param work gets a signal that aborts when the connection is lost, if it is one of a `Pool`
   * @param signal closes the connection of the transaction, if it is one of a `Pool`: a statement in progress fails
   */
  transaction<Result>(
    work: (transaction: Transaction, lost?: AbortSignal) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;
}

/**
 * The functions of a `Pool`, or of another library as they are.
 *
 * @throws {TypeError} if it is neither. The message does not contain it: it can be a URL with a password.
 */
export function connectionOf(database: PostgresPool | PostgresTransactions<unknown>): PostgresConnection<unknown> {
  if (isPool(database)) return transactionsOf(database);
  if (!hasFunctions(database, 'transaction', 'query'))
    throw new TypeError('Pass a Pool of pg, or an object with the functions transaction and query.');
  return {
    transaction: (work) => database.transaction(work),
    query: (transaction, text, values) => database.query(transaction, text, values),
  };
}

const defaultPoolMax = 10;

/** How many connections a `Pool` has at most. Null with the functions of another library. */
export function poolMax(database: PostgresPool | PostgresTransactions<unknown>): number | null {
  return isPool(database) ? (database.options?.max ?? defaultPoolMax) : null;
}

/** A subclass of a `Pool` can define a method `transaction`. */
function isPool(database: PostgresPool | PostgresTransactions<unknown>): database is PostgresPool {
  return hasFunctions(database, 'connect', 'query');
}

function hasFunctions(database: unknown, ...names: string[]): boolean {
  return names.every((name) => typeof field(database, name) === 'function');
}

/** @throws {TypeError} if handlers that also use the pool could not get a connection */
export function checkPoolMax(max: number | null): void {
  if (max !== null && max < 2)
    throw new TypeError(
      `The pool has ${max} connection. It needs at least 2: one for the transaction of a handler, and one for other statements of the handler.`,
    );
}

/** There, a connection belongs to the request that opened it, and nothing runs after the response. */
export const isWorkers: boolean = globalThis.navigator?.userAgent === 'Cloudflare-Workers';

function transactionsOf(pool: PostgresPool): PostgresConnection<PostgresClient> {
  return {
    async transaction(work, signal) {
      const lost = new AbortController();
      // Without a listener, a connection that is lost between two statements would end the process.
      const lose = (error: Error): void => lost.abort(error);
      const client = await connect(pool, lose);
      let isReleased = false;
      const release = (reason: Error | boolean = false): void => {
        if (isReleased) return;
        isReleased = true;
        client.off('error', lose);
        client.release(reason);
      };
      // Given up while it waited. A rollback could take for ever.
      if (signal?.aborted === true) release();
      signal?.throwIfAborted();
      const close = (): void => release(new Error('The transaction was given up.'));
      signal?.addEventListener('abort', close);
      let failure: Error | boolean = isWorkers;
      try {
        await client.query('begin', []);
        const result = await work(client, lost.signal);
        await client.query('commit', []);
        return result;
      } catch (error) {
        // Since a failover, the server is a standby. A new connection can find the primary.
        if (hasState(error, ['25006'])) failure = true;
        else if (!isReleased)
          await client.query('rollback', []).catch((rollbackError: Error) => {
            failure = rollbackError;
          });
        throw error;
      } finally {
        signal?.removeEventListener('abort', close);
        // Closes a connection that could not roll back, or that no other request can use.
        release(failure);
      }
    },
    async query(client, text, values) {
      const { rows } = await client.query(text, [...values]);
      return rows;
    },
  };
}

/** With a callback, `pg` returns nothing. Another pool may know no callback. */
interface PoolWithCallback {
  connect(callback: (error: unknown, client?: PostgresClient) => void): Promise<PostgresClient | undefined> | undefined;
}

/**
 * Takes a client of the pool, and adds the listener before anything else can run. `pg` removes its own listener when it hands out
 * a client, and the error of a lost connection can arrive in one read with the response to the last user of the client.
 */
function connect(pool: PostgresPool, onError: (error: Error) => void): Promise<PostgresClient> {
  return new Promise((resolve, reject) => {
    const listen = (client: PostgresClient): void => {
      client.on('error', onError);
      resolve(client);
    };
    const withCallback: PoolWithCallback = pool;
    const connected = withCallback.connect((error, client) => (client === undefined ? reject(error) : listen(client)));
    connected?.then((client) => client === undefined || listen(client), reject);
  });
}

/** The lock timeout, or at the isolation levels above READ COMMITTED a conflict with a concurrent insert of the same id. */
export function isContention(error: unknown): boolean {
  return hasState(error, ['40001', '40P01', '55P03']);
}

/**
 * Libraries wrap the error of the driver: in `cause` (Drizzle), or in `meta.driverAdapterError.cause` (Prisma), which has
 * `originalCode` in place of `code` if Prisma knows the error.
 */
export function hasState(error: unknown, states: readonly string[], depth = 0): boolean {
  // An error of a handler can be its own cause.
  if (typeof error !== 'object' || error === null || depth === causesMax) return false;
  const isState = (key: string): boolean => states.some((state) => state === Reflect.get(error, key));
  if (isState('code') || isState('originalCode')) return true;
  return ['cause', 'meta', 'driverAdapterError'].some((key) => hasState(Reflect.get(error, key), states, depth + 1));
}

const causesMax = 8;

/** Some libraries put the parameters of a statement, which can be a body, into the message of their error, which is logged. */
export function rootCause(error: unknown): unknown {
  const cause = field(error, 'cause');
  return cause === undefined ? error : rootCause(cause);
}
