import type { AccountId, EventId, SubscriptionId } from '../ids.ts';
import type { Shard } from '../shard.ts';
import type { BlockReason } from './blocked-entries.ts';
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

/** An account whose entries were in storage only when a read started, and which the read returns. */
export interface UnreadAccount {
  readonly account: QueuedAccount;
  readonly epoch: number;
}

/** When memory is full, an account keeps this many entries at least. */
const keptEntriesMin = 8;

/**
 * The entries in memory. Their number is bounded: of accounts that have many, the last are forgotten and read again when the
 * account has few left.
 */
export class KnownEntries {
  readonly #accounts = new Map<AccountId, QueuedAccount>();
  readonly #positions = new Set<QueuePosition>();
  /** Positions that were finished while a read was in progress, which can still return them. */
  #finishedDuringRead: Set<QueuePosition> | null = null;
  readonly #unread = new Set<QueuedAccount>();
  readonly #entriesMax: number;
  /** Memory is full of accounts that have few entries. */
  #isTight = false;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#positions.size;
  }

  get isFull(): boolean {
    return this.#positions.size >= this.#entriesMax;
  }

  get accounts(): Iterable<QueuedAccount> {
    return this.#accounts.values();
  }

  /** Whether an entry of the shard waits at this position or an earlier one, in memory or in storage only. */
  waits(shard: Shard, through: QueuePosition): boolean {
    for (const account of this.#accounts.values()) {
      if (account.shard === shard && account.nextPosition <= through) return true;
    }
    return false;
  }

  readStarted(): void {
    this.#finishedDuringRead = new Set();
  }

  readEnded(): void {
    this.#finishedDuringRead = null;
  }

  /** The accounts of the shard whose entries must be read now, and after which position. Null if there are none. */
  unreadOf(shard: Shard): { accounts: UnreadAccount[]; after: QueuePosition } | null {
    const accounts: UnreadAccount[] = [];
    let after = Infinity;
    for (const account of this.#unread) {
      if (account.shard !== shard || !this.#mayRead(account) || account.unreadFrom === null) continue;
      accounts.push({ account, epoch: account.epoch });
      after = Math.min(after, account.unreadFrom - 1);
    }
    return accounts.length === 0 ? null : { accounts, after };
  }

  get shardsToRead(): Set<Shard> {
    const shards = new Set<Shard>();
    for (const account of this.#unread) if (this.#mayRead(account)) shards.add(account.shard);
    return shards;
  }

  /**
   * The read returned everything from `unreadFrom` up to `last`, or everything if `last` is null. Returns false if
   * more was forgotten in the meantime.
   */
  wasRead({ account, epoch }: UnreadAccount, last: QueuePosition | null): boolean {
    if (account.epoch !== epoch) return false;
    if (last === null) this.#setUnread(account, null);
    else if (account.unreadFrom !== null) this.#setUnread(account, Math.max(account.unreadFrom, last + 1));
    return true;
  }

  /** Returns the account if the row is new to this process and was added. `isCounted`: see QueueEntry. */
  add(row: QueueRow, isCounted: boolean): QueuedAccount | null {
    const { position, accountId, eventId, subscriptionId, claims } = row;
    if (this.#positions.has(position) || this.#finishedDuringRead?.has(position)) return null;
    const account = this.#findOrAdd(accountId);
    // A change is a hint to read the subscription again, which may come early.
    const isChange = eventId === null;
    if (account.unreadFrom !== null && position >= account.unreadFrom && !isChange) return null;
    if (this.isFull && !isChange && !this.#makeRoom(account, position)) return null;
    const entry = queueEntry(position, eventId, subscriptionId, claims);
    entry.isCounted = isCounted;
    this.#positions.add(position);
    account.waiting.add(entry);
    return account;
  }

  /** The entry was deleted from the queue. */
  finish(account: QueuedAccount, entry: QueueEntry): void {
    account.claimed -= 1;
    this.#positions.delete(entry.position);
    this.#finishedDuringRead?.add(entry.position);
  }

  /** The entries were not finished, and wait again. */
  restore(account: QueuedAccount, entries: readonly QueueEntry[]): void {
    account.claimed -= entries.length;
    if (account.isRemoved) for (const { position } of entries) this.#positions.delete(position);
    else account.waiting.restore(entries);
  }

  /** The entry waits until its reason has gone. */
  block(account: QueuedAccount, entry: QueueEntry, eventType: string | null): void {
    account.claimed -= 1;
    if (account.isRemoved) this.#positions.delete(entry.position);
    else account.blocked.add(entry, eventType);
  }

  /** Returns how many entries wait again. */
  unblock(account: QueuedAccount, mayGoOn: (reason: BlockReason) => boolean): number {
    const released = account.blocked.release(mayGoOn);
    if (account.isRemoved) for (const { position } of released) this.#positions.delete(position);
    else account.waiting.restore(released);
    return released.length;
  }

  /** Forgets the taken entries, whose state is unknown, and all that wait after them. They are read again. */
  forget(account: QueuedAccount, claimed: readonly QueueEntry[]): void {
    account.claimed -= claimed.length;
    let from = account.unreadFrom ?? Infinity;
    for (const { position } of [...claimed, ...account.waiting.removeAll()]) {
      this.#positions.delete(position);
      from = Math.min(from, position);
    }
    account.epoch += 1;
    if (!account.isRemoved && from !== Infinity) this.#setUnread(account, from);
  }

  removeShard(shard: Shard): QueuedAccount[] {
    const removed: QueuedAccount[] = [];
    for (const account of this.#accounts.values()) {
      if (account.shard !== shard) continue;
      account.isRemoved = true;
      account.epoch += 1;
      for (const { position } of account.waiting.removeAll()) this.#positions.delete(position);
      for (const { position } of account.blocked.release(() => true)) this.#positions.delete(position);
      this.#setUnread(account, null);
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

  /** Few of its entries are left, or it lost them to a write of unknown outcome. */
  #mayRead(account: QueuedAccount): boolean {
    if (account.isBusy || account.isPaused) return false;
    return (
      account.size === 0 || (account.size < this.#entriesMax / 64 && this.#positions.size < this.#entriesMax * 0.75)
    );
  }

  /** Forgets the last entries of the account with the most. Returns false if the new entry must be forgotten too. */
  #makeRoom(account: QueuedAccount, position: QueuePosition): boolean {
    if (this.#isTight && this.#positions.size >= this.#entriesMax) return this.#leaveUnread(account, position);
    let largest = account;
    for (const other of this.#accounts.values()) if (other.waiting.size > largest.waiting.size) largest = other;
    const kept = Math.max(keptEntriesMin, largest.waiting.size >> 1);
    const [firstCut, ...cut] = largest.waiting.cutTo(kept);
    if (firstCut !== undefined) {
      this.#positions.delete(firstCut.position);
      for (const entry of cut) this.#positions.delete(entry.position);
      largest.epoch += 1;
      this.#setUnread(largest, Math.min(largest.unreadFrom ?? Infinity, firstCut.position));
      this.#isTight = false;
      return largest !== account || position < firstCut.position;
    }
    this.#isTight = true;
    return this.#leaveUnread(account, position);
  }

  #leaveUnread(account: QueuedAccount, position: QueuePosition): false {
    this.#setUnread(account, Math.min(account.unreadFrom ?? Infinity, position));
    account.epoch += 1;
    return false;
  }

  #setUnread(account: QueuedAccount, from: QueuePosition | null): void {
    account.unreadFrom = from;
    if (from === null) this.#unread.delete(account);
    else this.#unread.add(account);
  }
}
