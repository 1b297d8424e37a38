import type { AccountId } from '@deedwire/core';
import type { Client, DatabaseError } from 'pg';
import {
  awayState,
  concernsRelation,
  StoreUnavailableError,
  toStoreError,
  UnconfirmedCommitError,
} from '../../kernel/errors.ts';
import { ShortLivedMap } from '../../kernel/short-lived-map.ts';
import { type DrawnKeys, isRecordIdCollision, recordIdAttemptsMax } from '../record-id-collision.ts';
import { FairQueue } from './fair-queue.ts';
import type { SharedWrite, WriteResult } from './row-set.ts';
import { commitTogether, type FlightOptions, LostConnectionError, RolledBackError } from './transaction.ts';

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
  drawnKeys: DrawnKeys;
  /** For a write, from its call to its result. */
  deadlineMs: number;
  /** How long a write waits alone for a lock before it fails. */
  lockMs: number;
}

/** A write and its caller. */
interface Pending {
  readonly accountId: AccountId;
  readonly clientId: string;
  readonly write: SharedWrite<unknown>;
  /** Identifies the idempotency key. Null without one. */
  readonly key: string | null;
  readonly respond: (outcome: Outcome) => void;
  /** The caller has got a response. */
  isOver: boolean;
  attempts: number;
}

type Outcome = { result: WriteResult<unknown> } | { error: unknown };

/** Runs one transaction at a time, on a connection that is opened when it is needed. */
class Slot {
  readonly turns: FairQueue<Pending>;
  /** `shared`: several writes. `patient`: one write, which waits longer for locks. */
  readonly kind: 'shared' | 'alone' | 'patient';
  client: Client | null = null;
  isBusy = false;

  constructor(turns: FairQueue<Pending>, kind: Slot['kind']) {
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
  readonly #new = new FairQueue<Pending>();
  /** Writes whose shared transaction was rolled back. */
  readonly #again = new FairQueue<Pending>();
  /** The writes of marked accounts, and those that got no lock alone. */
  readonly #locked = new FairQueue<Pending>();
  readonly #slots = [
    ...Array.from({ length: sharedTransactions }, () => new Slot(this.#new, 'shared')),
    new Slot(this.#again, 'alone'),
    new Slot(this.#locked, 'patient'),
  ];
  /** Accounts whose last write failed alone, because of its rows or of a lock of the account. They share no transaction. */
  readonly #marked = new Set<AccountId>();
  /** The writes of each key, because a transaction can claim a key only once. The first one runs, the others wait for it. */
  readonly #keys = new ShortLivedMap<string, Pending[]>();
  /** The writes without a response. */
  #count = 0;
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
  write<Answer>(write: SharedWrite<Answer>): Promise<WriteResult<Answer>> {
    const { accountId, clientId } = write;
    if (this.#isClosed) return Promise.reject(unavailable('The store is closed.'));
    if (this.#count >= waitingMax && !this.#begun.has(write.operation)) {
      return Promise.reject(unavailable('Too many writes wait.'));
    }
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        for (const turns of [this.#new, this.#again, this.#locked]) turns.remove(pending);
        this.#settle(pending, { error: unavailable('The write was not committed in time.') });
      }, this.#options.deadlineMs);
      const pending: Pending = {
        accountId,
        clientId,
        write,
        key: write.key && JSON.stringify([write.key.accountId, write.key.mutation, write.key.key]),
        respond: (outcome) => {
          clearTimeout(deadline);
          if ('error' in outcome) reject(outcome.error);
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer of this write
          else resolve(outcome.result as WriteResult<Answer>);
        },
        isOver: false,
        attempts: 0,
      };
      this.#count += 1;
      const ofKey = pending.key === null ? undefined : this.#keys.get(pending.key);
      if (ofKey !== undefined) {
        ofKey.push(pending);
        return;
      }
      if (pending.key !== null) this.#keys.set(pending.key, [pending]);
      this.#enqueue(pending);
    });
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

  #enqueue(pending: Pending): void {
    (this.#marked.has(pending.accountId) ? this.#locked : this.#new).add(pending);
    this.#startSoon();
  }

  /** Responds to the caller of a write, and to those of other writes with its key. After an error the next one of these runs. */
  #settle(pending: Pending, outcome: Outcome): void {
    if (pending.isOver) return;
    pending.isOver = true;
    this.#count -= 1;
    pending.respond(outcome);
    if (pending.key === null) return;
    const ofKey = this.#keys.get(pending.key) ?? [];
    const index = ofKey.indexOf(pending);
    if (index !== -1) ofKey.splice(index, 1);
    if (index !== 0) return;
    const [next] = ofKey;
    if (next !== undefined && 'error' in outcome) return this.#enqueue(next);
    this.#keys.delete(pending.key);
    for (const other of ofKey) this.#settle(other, { result: { kind: 'key-known' } });
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
      const results = await commitTogether(client, this.#options, writes, lockMs);
      for (const [index, pending] of together.entries()) {
        const result = results[index];
        this.#begun.add(pending.write.operation);
        if (result !== undefined) this.#settle(pending, { result });
        if (slot.kind !== 'shared') this.#marked.delete(pending.accountId);
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
    // The transaction may still be open. Ending the connection ends it, even where the server does not respond.
    slot.end();
    if (!(error instanceof LostConnectionError)) {
      for (const pending of together) {
        if (slot.kind !== 'shared' || toStoreError(error) instanceof StoreUnavailableError)
          this.#settle(pending, { error: toStoreError(error) });
        else this.#runAgain(pending);
      }
      return;
    }
    // Connections that were idle meanwhile have probably ended too.
    for (const other of this.#slots) if (!other.isBusy) other.end();
    for (const pending of together) {
      if (pending.attempts === 0 && isOfIdleConnection(error)) this.#runAgain(pending, this.#new);
      else {
        const { cause, mayBeCommitted } = error;
        this.#settle(pending, { error: mayBeCommitted ? new UnconfirmedCommitError(cause) : unavailable(cause) });
      }
    }
  }

  #rolledBack(slot: Slot, pending: Pending, lockMs: number, { cause, isOfClaim }: RolledBackError): void {
    const { accountId } = pending;
    if (slot.kind === 'shared' && repeatableStates.test(cause.code ?? '')) return this.#runAgain(pending);
    if (isOfClaim && isOfKey(cause)) return this.#settle(pending, { result: { kind: 'key-known' } });
    if (isRecordIdCollision(cause, this.#options.drawnKeys) && pending.attempts < recordIdAttemptsMax)
      return this.#runAgain(pending);
    if (isOfAccount(cause) && this.#marked.size < markedMax) this.#marked.add(accountId);
    if (cause.code === lockNotAvailable && lockMs < this.#options.lockMs) return this.#runAgain(pending, this.#locked);
    this.#settle(pending, { error: toStoreError(cause) });
  }

  /** Alone by default: the error of a shared transaction does not say which write caused it. */
  #runAgain(pending: Pending, turns = this.#again): void {
    if (pending.isOver) return;
    pending.attempts += 1;
    (this.#marked.has(pending.accountId) ? this.#locked : turns).add(pending);
  }
}

const lockNotAvailable = '55P03';

/** A new transaction can succeed: values, constraints or the account of one write, conflicts, locks, cancelled statements. */
const repeatableStates = /^(?:22|23|40001|40P01|55P03|57014|ZH001)/;

/** The connection had ended before the transaction began, or soon after it. Not: the server did not respond in time. */
function isOfIdleConnection({ mayBeCommitted, cause }: LostConnectionError): boolean {
  return !mayBeCommitted && !(cause instanceof StoreUnavailableError);
}

/** Another transaction is using the key. */
function isOfKey(error: DatabaseError): boolean {
  return error.code === lockNotAvailable && concernsRelation(error, 'idempotency_key');
}

/** The account or its rows are refused, or another transaction has locked it. Not: a partition is missing for all accounts. */
function isOfAccount(error: DatabaseError): boolean {
  if (error.code === lockNotAvailable) return concernsRelation(error, 'account');
  return error.code === awayState || (/^2[23]/.test(error.code ?? '') && toStoreError(error) === error);
}

function unavailable(cause: unknown): StoreUnavailableError {
  if (cause instanceof StoreUnavailableError) return cause;
  return new StoreUnavailableError(typeof cause === 'string' ? new Error(cause) : cause);
}
