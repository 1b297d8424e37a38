import type { AccountId } from '@deedwire/domain';
import type { Client, DatabaseError } from 'pg';
import { StoreUnavailableError, toStoreError } from '../errors.ts';
import { isRecordIdCollision, recordIdAttemptsMax } from '../record-id-collision.ts';
import type { SharedWrite, WriteResult } from './row-set.ts';
import { commitTogether, type FlightOptions, LostConnectionError, RolledBackError } from './transaction.ts';
import { Turns } from './turns.ts';

/** More writes share no transaction: the gain per write is small, and each pays for an error of another. */
const togetherMax = 16;
/** While this many transactions run, further writes wait and share the next one. */
const sharedTransactions = 2;
/** Each holds its rows in memory, at most some kB. */
const waitingMax = 2_000;
const markedMax = 10_000;

export interface SharedWriterOptions extends FlightOptions {
  /** Opens a connection in pipeline mode. */
  connect: () => Promise<Client>;
  /** For a write, from its call to its result. */
  deadlineMs: number;
  /** Called once for each worker after a commit. */
  notify: (payload: string) => void;
}

/** A write and its caller. */
interface Pending {
  readonly accountId: AccountId;
  readonly clientId: string;
  readonly write: SharedWrite<unknown>;
  readonly settle: (outcome: { result: WriteResult<unknown> } | { error: unknown }) => void;
  /** The caller got an error at the deadline. */
  isOver: boolean;
  attempts: number;
}

/** A connection, opened when it is needed. */
class Slot {
  client: Client | null = null;
  isBusy = false;

  /** Ends the connection at once, without a message. */
  end(): void {
    this.client?.connection.stream.destroy();
    this.client = null;
  }
}

/**
 * Commits writes that wait in shared transactions. A write starts at once, unless two transactions are running; then it waits
 * for the next one. If the server rolls a shared transaction back, each of its writes runs again, alone.
 */
export class SharedWriter {
  readonly #options: SharedWriterOptions;
  readonly #shared = Array.from({ length: sharedTransactions }, () => new Slot());
  readonly #alone = new Slot();
  readonly #slots = [...this.#shared, this.#alone];
  readonly #waiting = new Turns<Pending>();
  /** Writes whose shared transaction was rolled back. */
  readonly #again = new Turns<Pending>();
  /** The writes of marked accounts, which come last. */
  readonly #last = new Turns<Pending>();
  /** Accounts whose last write failed alone, because of its rows or of a lock of the account. They share no transaction. */
  readonly #marked = new Set<AccountId>();
  /** Keys of writes that wait or run, because a transaction can claim a key only once. */
  readonly #keys = new Map<string, Promise<unknown>>();
  #idle: PromiseWithResolvers<void> | null = null;
  #isClosed = false;

  constructor(options: SharedWriterOptions) {
    this.#options = options;
  }

  /**
   * Commits the rows of a write, in a transaction with others.
   *
   * @throws {StoreUnavailableError} when the database is unavailable, or too many writes wait. After a COMMIT without a response,
   * the write may have been committed.
   */
  async write<Answer>(write: SharedWrite<Answer>): Promise<WriteResult<Answer>> {
    if (write.key === null) return this.#enqueue(write);
    const { accountId, mutation, key } = write.key;
    const text = JSON.stringify([accountId, mutation, key]);
    for (let other = this.#keys.get(text); other !== undefined; other = this.#keys.get(text))
      await other.catch(() => {});
    const written = this.#enqueue(write);
    this.#keys.set(text, written);
    return written.finally(() => this.#keys.delete(text));
  }

  /** Waits until all writes have ended, and closes the connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#isWorking) await (this.#idle ??= Promise.withResolvers()).promise;
    await Promise.all(this.#slots.flatMap(({ client }) => client?.end() ?? []));
  }

  get #isWorking(): boolean {
    return this.#slots.some(({ isBusy }) => isBusy);
  }

  #enqueue<Answer>(write: SharedWrite<Answer>): Promise<WriteResult<Answer>> {
    const { accountId, clientId } = write;
    if (this.#isClosed) return Promise.reject(unavailable('The store is closed.'));
    if (this.#waiting.size + this.#again.size + this.#last.size >= waitingMax) {
      return Promise.reject(unavailable('Too many writes wait.'));
    }
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        pending.isOver = true;
        for (const turns of [this.#waiting, this.#again, this.#last]) turns.remove(pending);
        reject(unavailable('The write was not committed in time.'));
      }, this.#options.deadlineMs);
      const pending: Pending = {
        accountId,
        clientId,
        write,
        isOver: false,
        attempts: 0,
        settle: (outcome) => {
          clearTimeout(deadline);
          if ('error' in outcome) reject(outcome.error);
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer of this write
          else resolve(outcome.result as WriteResult<Answer>);
        },
      };
      (this.#marked.has(accountId) ? this.#last : this.#waiting).add(pending);
      this.#startNext();
    });
  }

  #startNext(): void {
    for (const slot of this.#shared) {
      if (slot.isBusy) continue;
      const together: Pending[] = [];
      while (together.length < togetherMax) {
        const next = this.#waiting.take();
        if (next === undefined) break;
        together.push(next);
      }
      if (together.length > 0) void this.#run(slot, together, false);
    }
    if (this.#alone.isBusy) return;
    const next = this.#again.take() ?? this.#last.take();
    if (next !== undefined) void this.#run(this.#alone, [next], true);
  }

  async #run(slot: Slot, together: readonly Pending[], isAlone: boolean): Promise<void> {
    slot.isBusy = true;
    try {
      const client = (slot.client ??= await this.#connect(slot));
      const writes = together.map(({ write }) => write);
      const { results, notify } = await commitTogether(client, this.#options, writes, isAlone);
      for (const payload of notify) this.#options.notify(payload);
      for (const [index, { settle, accountId }] of together.entries()) {
        const result = results[index];
        if (result !== undefined) settle({ result });
        if (isAlone) this.#marked.delete(accountId);
      }
    } catch (error) {
      this.#failed(slot, together, isAlone, error);
    } finally {
      slot.isBusy = false;
      this.#startNext();
      if (!this.#isWorking) this.#idle?.resolve();
    }
  }

  async #connect(slot: Slot): Promise<Client> {
    const client = await this.#options.connect();
    const forget = (): void => {
      if (slot.client === client) slot.client = null;
    };
    client.on('error', forget);
    client.on('end', forget);
    return client;
  }

  #failed(slot: Slot, together: readonly Pending[], isAlone: boolean, error: unknown): void {
    if (error instanceof RolledBackError) {
      for (const pending of together) this.#rolledBack(pending, isAlone, error);
      return;
    }
    // The transaction may still be open. Ending the connection ends it, also where the server does not respond.
    slot.end();
    if (!(error instanceof LostConnectionError)) {
      for (const pending of together) {
        if (isAlone || toStoreError(error) instanceof StoreUnavailableError)
          pending.settle({ error: toStoreError(error) });
        else this.#runAgain(pending);
      }
      return;
    }
    // Connections that were idle meanwhile have probably ended too.
    for (const other of this.#slots) if (!other.isBusy) other.end();
    for (const pending of together) {
      if (pending.attempts === 0 && isOfIdleConnection(error)) this.#runAgain(pending, this.#waiting);
      else pending.settle({ error: unavailable(error.cause) });
    }
  }

  #rolledBack(pending: Pending, isAlone: boolean, { cause, isOfClaim }: RolledBackError): void {
    const { accountId, settle } = pending;
    if (!isAlone && repeatableStates.test(cause.code ?? '')) return this.#runAgain(pending);
    if (isOfClaim && isOfKey(cause)) return settle({ result: { kind: 'key-known' } });
    if (isRecordIdCollision(cause) && pending.attempts < recordIdAttemptsMax) return this.#runAgain(pending);
    if (isOfAccount(cause) && this.#marked.size < markedMax) this.#marked.add(accountId);
    settle({ error: toStoreError(cause) });
  }

  /** Alone by default: the error of a shared transaction does not say which write caused it. */
  #runAgain(pending: Pending, turns = this.#again): void {
    if (pending.isOver) return;
    pending.attempts += 1;
    (this.#marked.has(pending.accountId) ? this.#last : turns).add(pending);
  }
}

/** A new transaction can succeed: values and constraints of one write, conflicts, locks, cancelled statements. */
const repeatableStates = /^(?:22|23|40001|40P01|55P03|57014)/;

/** The connection had ended before the transaction began, or soon after it. Not: the server did not respond in time. */
function isOfIdleConnection({ mayBeCommitted, cause }: LostConnectionError): boolean {
  return !mayBeCommitted && !(cause instanceof StoreUnavailableError);
}

/** Another transaction is using the key. */
function isOfKey({ code, where }: DatabaseError): boolean {
  return code === '55P03' && where?.includes('"idempotency_key"') === true;
}

/** The rows of the account are refused, or another transaction has locked it. Not: a partition is missing for all accounts. */
function isOfAccount(error: DatabaseError): boolean {
  const { code, where } = error;
  if (code === '55P03') return where?.includes('"account"') === true;
  return /^2[23]/.test(code ?? '') && toStoreError(error) === error;
}

function unavailable(cause: unknown): StoreUnavailableError {
  if (cause instanceof StoreUnavailableError) return cause;
  return new StoreUnavailableError(typeof cause === 'string' ? new Error(cause) : cause);
}
