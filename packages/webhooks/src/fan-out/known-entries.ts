import { ShortLivedMap } from '@deedwire/store';
import type { AccountId, EventId, SubscriptionId } from '../kernel/ids.ts';
import type { Shard } from '../kernel/shard.ts';
import { queueEntry, type QueueEntry, type QueuePosition } from './queue-entry.ts';
import { QueuedAccount } from './queued-account.ts';

/** A row of the queue. */
export interface QueueRow {
  readonly position: QueuePosition;
  readonly accountId: AccountId;
  readonly eventId: EventId | null;
  readonly subscriptionId: SubscriptionId | null;
  readonly claims: number;
}

/** An account with unread entries, which a read in progress returns. */
export interface UnreadAccount {
  readonly account: QueuedAccount;
  readonly epoch: number;
}

/** When memory is full, an account keeps at least this many entries. */
const keptEntriesMin = 8;

/** Further changes of the account wait for room and for earlier entries, as events do. */
const earlyChangesMax = 64;

/**
 * The entries in memory. Their number is bounded: an account with many entries drops the last ones, and they are read again
 * when it has few left. Entries from `QueuedAccount.unreadFrom` on are unread: in storage only.
 */
export class KnownEntries {
  /** Most accounts leave it after a round. */
  readonly #accounts = new ShortLivedMap<AccountId, QueuedAccount>();
  readonly #entries = new ShortLivedMap<QueuePosition, QueueEntry>();
  /** Positions that were finished while a read is in progress. The read can still return them. */
  #finishedDuringRead: Set<QueuePosition> | null = null;
  readonly #unread = new Set<QueuedAccount>();
  readonly #entriesMax: number;
  /** No account has enough entries to drop some. Examined once in each read. */
  #isTight = false;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  get isFull(): boolean {
    return this.#entries.size >= this.#entriesMax;
  }

  get accounts(): Iterable<QueuedAccount> {
    return this.#accounts.values();
  }

  /** Whether an entry of the shard waits at this position or an earlier one, in memory or unread. */
  waits(shard: Shard, through: QueuePosition): boolean {
    for (const account of this.#accounts.values()) {
      if (account.shard === shard && account.nextPosition <= through) return true;
    }
    return false;
  }

  readStarted(): void {
    this.#finishedDuringRead = new Set();
    this.#isTight = false;
  }

  readEnded(): void {
    this.#finishedDuringRead = null;
  }

  /** The accounts whose unread entries must be read now, and after which position, by shard. */
  unreadByShard(): Map<Shard, { readonly accounts: UnreadAccount[]; after: QueuePosition }> {
    const byShard = new Map<Shard, { readonly accounts: UnreadAccount[]; after: QueuePosition }>();
    for (const account of this.#unread) {
      if (!this.#mayRead(account) || account.unreadFrom === null) continue;
      const { shard, epoch } = account;
      const after = account.unreadFrom - 1;
      const found = byShard.get(shard);
      if (found === undefined) byShard.set(shard, { accounts: [{ account, epoch }], after });
      else {
        found.accounts.push({ account, epoch });
        found.after = Math.min(found.after, after);
      }
    }
    return byShard;
  }

  /**
   * Records that a read returned everything from `unreadFrom` up to `last`, or everything if `last` is null. Returns false
   * if the account has dropped further entries in the meantime.
   */
  wasRead({ account, epoch }: UnreadAccount, last: QueuePosition | null): boolean {
    if (account.epoch !== epoch) return false;
    if (last === null) this.#markRead(account);
    else if (account.unreadFrom !== null) account.unreadFrom = Math.max(account.unreadFrom, last + 1);
    return true;
  }

  /**
   * Adds a row. Returns its account, or null if the row is already known or must stay unread. `isCounted`: see QueueEntry.
   */
  add(row: QueueRow, isCounted: boolean): QueuedAccount | null {
    const { position, accountId, eventId, subscriptionId, claims } = row;
    if (this.#entries.get(position) !== undefined || this.#finishedDuringRead?.has(position)) return null;
    const account = this.#findOrAdd(accountId);
    // A change only makes the worker read the subscription again, so it may come before earlier entries that are unread.
    const isEarly = eventId === null && account.earlyChanges.size < earlyChangesMax;
    if (isEarly) account.earlyChanges.add(position);
    else if (account.unreadFrom !== null && position >= account.unreadFrom) return null;
    else if (this.isFull && !this.#makeRoom(account, position)) return null;
    // An entry that is read again was dropped by this process, which did not end: it is not counted again.
    const otherClaims = account.ownClaims.without(position, claims);
    const entry = queueEntry(position, eventId, subscriptionId, otherClaims);
    entry.isCounted = isCounted || claims > otherClaims;
    this.#entries.set(position, entry);
    account.waiting.add(entry);
    return account;
  }

  /** Adds a row that was unblocked, as `add`. A read in progress may have seen it before it was blocked, or may not see it. */
  addUnblocked(row: QueueRow): QueuedAccount | null {
    this.#finishedDuringRead?.delete(row.position);
    const account = this.add(row, true);
    if (this.#entries.get(row.position) === undefined) this.#leaveUnread(this.#findOrAdd(row.accountId), row.position);
    return account;
  }

  /** Whether entries of the account that are unblocked fit into memory. */
  hasRoom(id: AccountId): boolean {
    const waiting = this.#accounts.get(id)?.waiting.size ?? 0;
    return !this.isFull && waiting < this.#entriesMax / 32;
  }

  /** Removes an entry that was deleted from the queue, or blocked. */
  finish(account: QueuedAccount, entry: QueueEntry): void {
    account.claimed -= 1;
    account.ownClaims.forget(entry.position);
    this.#remove(account, [entry]);
    this.#finishedDuringRead?.add(entry.position);
  }

  /** Returns unfinished entries to the waiting ones. */
  restore(account: QueuedAccount, entries: readonly QueueEntry[]): void {
    account.claimed -= entries.length;
    if (account.isRemoved) this.#remove(account, entries);
    else account.waiting.restore(entries);
  }

  /** Drops claimed entries of unknown state, and all that wait after them. They are read again. */
  forget(account: QueuedAccount, claimed: readonly QueueEntry[]): void {
    account.claimed -= claimed.length;
    const from = this.#remove(account, [...claimed, ...account.waiting.removeAll()]);
    if (!account.isRemoved) this.#leaveUnread(account, from);
  }

  removeShard(shard: Shard): QueuedAccount[] {
    const removed: QueuedAccount[] = [];
    for (const account of this.#accounts.values()) {
      if (account.shard !== shard) continue;
      account.isRemoved = true;
      account.epoch += 1;
      this.#remove(account, account.waiting.removeAll());
      this.#markRead(account);
      this.#accounts.delete(account.id);
      removed.push(account);
    }
    return removed;
  }

  forgetUnused(account: QueuedAccount): void {
    if (account.isUnused && account.uncertainLanes.size === 0 && this.#accounts.get(account.id) === account) {
      this.#accounts.delete(account.id);
    }
  }

  #findOrAdd(id: AccountId): QueuedAccount {
    const found = this.#accounts.get(id);
    if (found !== undefined) return found;
    const account = new QueuedAccount(id);
    this.#accounts.set(account.id, account);
    return account;
  }

  /** True if the account has few entries left, or dropped all of them after an uncertain write. */
  #mayRead(account: QueuedAccount): boolean {
    if (account.isBusy || account.isPaused || this.isFull) return false;
    return account.size === 0 || (account.size < this.#entriesMax / 64 && this.#entries.size < this.#entriesMax * 0.75);
  }

  /** Drops the last entries of the account with the most. Returns false if the new entry must stay unread, too. */
  #makeRoom(account: QueuedAccount, position: QueuePosition): boolean {
    if (!this.#isTight) {
      let largest = account;
      for (const other of this.#accounts.values()) if (other.waiting.size > largest.waiting.size) largest = other;
      const cut = largest.waiting.cutTo(Math.max(keptEntriesMin, largest.waiting.size >> 1));
      if (cut.length > 0) {
        const from = this.#remove(largest, cut);
        this.#leaveUnread(largest, from);
        return largest !== account || position < from;
      }
      this.#isTight = true;
    }
    this.#leaveUnread(account, position);
    return false;
  }

  /** Returns the lowest of the positions. Infinity if there are none. */
  #remove(account: QueuedAccount, entries: readonly QueueEntry[]): QueuePosition {
    let lowest = Infinity;
    for (const { position } of entries) {
      this.#entries.delete(position);
      account.earlyChanges.delete(position);
      lowest = Math.min(lowest, position);
    }
    return lowest;
  }

  #leaveUnread(account: QueuedAccount, from: QueuePosition): void {
    account.epoch += 1;
    const unreadFrom = Math.min(account.unreadFrom ?? Infinity, from);
    if (unreadFrom === Infinity) return;
    account.unreadFrom = unreadFrom;
    this.#unread.add(account);
  }

  #markRead(account: QueuedAccount): void {
    account.unreadFrom = null;
    this.#unread.delete(account);
  }
}
