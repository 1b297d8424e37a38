import { field } from './field.ts';
import { hasState, type PostgresTransactions } from './postgres-connection.ts';
import { WorkFailedError } from './store.ts';

/**
 * Runs a handler in a transaction, and refuses what it sends through the transaction after its end. The connection then belongs
 * to the pool: a statement would commit by itself, or together with another delivery.
 *
 * @param xid the id of the transaction before the handler
 * @throws {WorkFailedError} if the handler ended the transaction, or returned although it failed
 */
export async function runInTransaction<Transaction>(
  connection: PostgresTransactions<Transaction>,
  opened: Transaction,
  xid: unknown,
  handle: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  let hasEnded = false;
  const refusal = (): Error | null => (hasEnded ? new Error(ended) : null);
  try {
    await handle(isObject(opened) ? guarded(opened, refusal) : opened);
  } catch (error) {
    hasEnded = true;
    // Without its connection, the state of the transaction is unknown.
    const state = await stateOf(connection, opened, xid).catch(() => null);
    if (state?.kind === 'ended') throw new WorkFailedError(endedByHandler, { cause: error });
    throw error;
  } finally {
    hasEnded = true;
  }
  const state = await stateOf(connection, opened, xid);
  if (state.kind === 'ended') throw new WorkFailedError(endedByHandler);
  if (state.kind === 'failed')
    throw new WorkFailedError(
      'A statement of the handler failed, and the handler did not throw. The transaction is rolled back. Throw the error, or use a savepoint.',
      { cause: state.error },
    );
}

const ended =
  'The transaction of this handler has ended, because the handler returned, threw or took longer than handlerTimeoutMs. The statement was not sent. Await each statement, and stop when signal aborts.';

const endedByHandler =
  'The handler ended the transaction. Leave COMMIT and ROLLBACK to the store or the inbox. After a COMMIT, the store takes the delivery for processed: a retry does not call the handler, unless receiver.forget() forgets its id.';

/** What takes the connection from the store: another delivery could then use it in the middle of the transaction. */
const notForHandlers: ReadonlySet<PropertyKey> = new Set(['end', 'release']);

type TransactionState = { kind: 'ended' } | { kind: 'failed'; error: unknown } | { kind: 'open' };

/**
 * PostgreSQL answers a COMMIT of a failed transaction with ROLLBACK and without an error, and a COMMIT without a transaction
 * with a warning.
 */
async function stateOf<Transaction>(
  connection: PostgresTransactions<Transaction>,
  opened: Transaction,
  xid: unknown,
): Promise<TransactionState> {
  try {
    const [row] = await connection.query(opened, `select pg_current_xact_id_if_assigned()::text as xid`, []);
    return { kind: field(row, 'xid') === xid ? 'open' : 'ended' };
  } catch (error) {
    if (hasState(error, ['25P02'])) return { kind: 'failed', error };
    throw error;
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** The same object for the handler, without a use after `refusal` returns an error. */
function guarded<Opened extends object>(opened: Opened, refusal: () => Error | null): Opened {
  /** What the handler has put in the place of methods. The connection, which the pool uses afterwards, does not get it. */
  const replaced = new Map<PropertyKey, unknown>();
  const guard: Opened = new Proxy<Opened>(opened, {
    apply: callIfOpen,
    get(target, key) {
      if (replaced.has(key)) return replaced.get(key);
      // Methods and getters can have private fields, which a proxy does not have.
      const value: unknown = Reflect.get(target, key, target);
      // What the language and `await` look up is no use of the transaction.
      if (!isObject(value) || typeof key === 'symbol' || key === 'constructor') return value;
      if (typeof value !== 'function') throwIf(refusal());
      // A proxy must return the property of a frozen object as it is.
      if (typeof value !== 'function' || isFrozen(target, key)) return value;
      return new Proxy(value, {
        apply(method, self, values) {
          if (notForHandlers.has(key))
            throw new Error(
              `The store or the inbox needs the connection, and releases it. Do not call ${key}() of transaction.`,
            );
          if (key === 'query') {
            // As pg does, so that `catch` of the promise works.
            const error = refusal();
            if (error !== null) return Promise.reject(error);
          }
          // The transaction of a savepoint, as of Drizzle, ends with this one.
          const passed =
            key === 'transaction' ? values.map((work: unknown) => withGuardedTransaction(work, refusal)) : values;
          const result: unknown = callIfOpen(method, self === guard ? target : self, passed);
          return result === target ? guard : result;
        },
      });
    },
    set(target, key, value: unknown) {
      if (typeof value !== 'function') return Reflect.set(target, key, value);
      replaced.set(key, value);
      return true;
    },
  });
  return guard;

  function callIfOpen(target: object, self: unknown, values: unknown[]): unknown {
    throwIf(refusal());
    return typeof target === 'function' ? Reflect.apply(target, self, values) : undefined;
  }
}

function throwIf(error: Error | null): void {
  if (error !== null) throw error;
}

function isFrozen(target: object, key: string): boolean {
  const property = Reflect.getOwnPropertyDescriptor(target, key);
  return property?.configurable === false && property.writable === false;
}

function withGuardedTransaction(work: unknown, refusal: () => Error | null): unknown {
  if (typeof work !== 'function') return work;
  return (inner: unknown, ...others: unknown[]): unknown =>
    Reflect.apply(work, undefined, [isObject(inner) ? guarded(inner, refusal) : inner, ...others]);
}
