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
/** How long claims and rows wait for a lock, in milliseconds. The writes that share a transaction wait for those of the others. */
const sharedLockMs = 50;
/** Shorter, because each write that was rolled back together with a locked one waits for its turn alone. */
const aloneLockMs = 10;

export interface SharedWriterOptions extends FlightOptions {
  /** Opens a connection in pipeline mode. */
  connect: () => Promise<Client>;
  /** For a write, from its call to its result. */
  deadlineMs: number;
  /** How long a write waits alone for a lock before it fails. */
  lockMs: number;
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

/** Runs one transaction at a time, on a connection that is opened when it is needed. */
class Slot {
  readonly turns: Turns<Pending>;
  /** `shared`: several writes. `patient`: one write, which waits longer for locks. */
  readonly kind: 'shared' | 'alone' | 'patient';
  client: Client | null = null;
  isBusy = false;

  constructor(turns: Turns<Pending>, kind: Slot['kind']) {
    this.turns = turns;
    this.kind = kind;
  }

  /** Removes the writes of the next transaction from the turns and returns them. */
  take(): Pending[] {
    const together: Pending[] = [];
    while (together.length < (this.kind === 'shared' ? togetherMax : 1)) {
      const next = this.turns.take();
      if (next === undefined) break;
      together.push(next);
    }
    return together;
  }

  /** Ends the connection at once, without a message. */
  end(): void {
    this.client?.connection.stream.destroy();
    this.client = null;
  }
}

/**
 * Commits writes that wait in shared transactions. A write starts at the end of the turn of the event loop, together with those
 * whose requests arrived in the same turn, unless two transactions are running; then it waits for the next one. If the server
 * rolls a shared transaction back, each of its writes runs again, alone. One that does not get a lock then waits longer for it,
 * beside the others. The accounts that wait for locks share this time, so that one that is free again is soon served.
 */
export class SharedWriter {
  readonly #options: SharedWriterOptions;
  readonly #new = new Turns<Pending>();
  /** Writes whose shared transaction was rolled back. */
  readonly #again = new Turns<Pending>();
  /** The writes of marked accounts, and those that got no lock alone. */
  readonly #locked = new Turns<Pending>();
  readonly #slots = [
    ...Array.from({ length: sharedTransactions }, () => new Slot(this.#new, 'shared')),
    new Slot(this.#again, 'alone'),
    new Slot(this.#locked, 'patient'),
  ];
  /** Accounts whose last write failed alone, because of its rows or of a lock of the account. They share no transaction. */
  readonly #marked = new Set<AccountId>();
  /** Keys of writes that wait or run, because a transaction can claim a key only once. */
  readonly #keys = new Map<string, Promise<unknown>>();
  /** Operations that have written. The next one of their writes is not refused, so that they do not stop in the middle. */
  readonly #begun = new WeakSet<object>();
  /** Writes start at the end of this turn of the event loop. */
  #isStarting = false;
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
    return this.#isStarting || this.#slots.some(({ isBusy }) => isBusy);
  }

  #enqueue<Answer>(write: SharedWrite<Answer>): Promise<WriteResult<Answer>> {
    const { accountId, clientId } = write;
    if (this.#isClosed) return Promise.reject(unavailable('The store is closed.'));
    const waiting = this.#new.size + this.#again.size + this.#locked.size;
    if (waiting >= waitingMax && !this.#begun.has(write.operation)) {
      return Promise.reject(unavailable('Too many writes wait.'));
    }
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        pending.isOver = true;
        for (const turns of [this.#new, this.#again, this.#locked]) turns.remove(pending);
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
      (this.#marked.has(accountId) ? this.#locked : this.#new).add(pending);
      this.#startSoon();
    });
  }

  #startSoon(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    setImmediate(() => {
      this.#isStarting = false;
      this.#startNext();
      if (!this.#isWorking) this.#idle?.resolve();
    });
  }

  #startNext(): void {
    for (const slot of this.#slots) {
      if (slot.isBusy) continue;
      const lockMs = this.#lockMsOf(slot);
      const together = slot.take();
      if (together.length > 0) void this.#run(slot, together, lockMs);
    }
  }

  #lockMsOf({ kind, turns }: Slot): number {
    if (kind === 'shared') return sharedLockMs;
    return kind === 'alone' ? aloneLockMs : Math.max(aloneLockMs, Math.round(this.#options.lockMs / turns.accounts));
  }

  async #run(slot: Slot, together: readonly Pending[], lockMs: number): Promise<void> {
    slot.isBusy = true;
    try {
      const client = (slot.client ??= await this.#connect(slot));
      const writes = together.map(({ write }) => write);
      const { results, notify } = await commitTogether(client, this.#options, writes, lockMs);
      for (const payload of notify) this.#options.notify(payload);
      for (const [index, { settle, accountId, write }] of together.entries()) {
        const result = results[index];
        this.#begun.add(write.operation);
        if (result !== undefined) settle({ result });
        if (slot.kind !== 'shared') this.#marked.delete(accountId);
      }
    } catch (error) {
      this.#failed(slot, together, lockMs, error);
    } finally {
      slot.isBusy = false;
      this.#startSoon();
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

  #failed(slot: Slot, together: readonly Pending[], lockMs: number, error: unknown): void {
    if (error instanceof RolledBackError) {
      for (const pending of together) this.#rolledBack(slot, pending, lockMs, error);
      return;
    }
    // The transaction may still be open. Ending the connection ends it, also where the server does not respond.
    slot.end();
    if (!(error instanceof LostConnectionError)) {
      for (const pending of together) {
        if (slot.kind !== 'shared' || toStoreError(error) instanceof StoreUnavailableError)
          pending.settle({ error: toStoreError(error) });
        else this.#runAgain(pending);
      }
      return;
    }
    // Connections that were idle meanwhile have probably ended too.
    for (const other of this.#slots) if (!other.isBusy) other.end();
    for (const pending of together) {
      if (pending.attempts === 0 && isOfIdleConnection(error)) this.#runAgain(pending, this.#new);
      else pending.settle({ error: unavailable(error.cause) });
    }
  }

  #rolledBack(slot: Slot, pending: Pending, lockMs: number, { cause, isOfClaim }: RolledBackError): void {
    const { accountId, settle } = pending;
    if (slot.kind === 'shared' && repeatableStates.test(cause.code ?? '')) return this.#runAgain(pending);
    if (isOfClaim && isOfKey(cause)) return settle({ result: { kind: 'key-known' } });
    if (isRecordIdCollision(cause) && pending.attempts < recordIdAttemptsMax) return this.#runAgain(pending);
    if (isOfAccount(cause) && this.#marked.size < markedMax) this.#marked.add(accountId);
    if (cause.code === lockNotAvailable && lockMs < this.#options.lockMs) return this.#runAgain(pending, this.#locked);
    settle({ error: toStoreError(cause) });
  }

  /** Alone by default: the error of a shared transaction does not say which write caused it. */
  #runAgain(pending: Pending, turns = this.#again): void {
    if (pending.isOver) return;
    pending.attempts += 1;
    (this.#marked.has(pending.accountId) ? this.#locked : turns).add(pending);
  }
}

const lockNotAvailable = '55P03';

/** A new transaction can succeed: values and constraints of one write, conflicts, locks, cancelled statements. */
const repeatableStates = /^(?:22|23|40001|40P01|55P03|57014)/;

/** The connection had ended before the transaction began, or soon after it. Not: the server did not respond in time. */
function isOfIdleConnection({ mayBeCommitted, cause }: LostConnectionError): boolean {
  return !mayBeCommitted && !(cause instanceof StoreUnavailableError);
}

/** Another transaction is using the key. */
function isOfKey({ code, where }: DatabaseError): boolean {
  return code === lockNotAvailable && where?.includes('"idempotency_key"') === true;
}

/** The rows of the account are refused, or another transaction has locked it. Not: a partition is missing for all accounts. */
function isOfAccount(error: DatabaseError): boolean {
  const { code, where } = error;
  if (code === lockNotAvailable) return where?.includes('"account"') === true;
  return /^2[23]/.test(code ?? '') && toStoreError(error) === error;
}

function unavailable(cause: unknown): StoreUnavailableError {
  if (cause instanceof StoreUnavailableError) return cause;
  return new StoreUnavailableError(typeof cause === 'string' ? new Error(cause) : cause);
}
