import { type AccountId, type Shard, shardOf } from '../kernel/ids.ts';
import { compareIds } from '../kernel/sql.ts';
import { QueuedAccount, type QueuePosition } from './queued-account.ts';
import type { Skip } from './sql/queue.ts';

/** A shard that this process owns. */
export interface OwnedShard {
  readonly shard: Shard;
  /** Those that are not only in storage. */
  readonly accounts: Map<AccountId, QueuedAccount>;
  /** The queue may have entries that no read has found. */
  isWoken: boolean;
  /** How often the shard was woken. */
  wakes: number;
}

/** The approximate number of deliveries of a turn in a bulk round, which share what a round does for each account. */
export const turnWeight = 8;

/** After this many retries, an account gets a turn although its lanes have enough to send. */
export const retriesMax = 50;

/** How many accounts a retry examines, because with each one `isBehind` is called. */
const examinedTogether = 512;

/** How many polls pass until the first entry of an account is read. */
const pollsPerCheck = 5;

/** The position of an account is remembered if at least this many of its entries were read since the last `countAnew`. */
export const frequentEntriesMin = 16;

/** How many positions are remembered, of the accounts that were read last. Each takes a read of its shard about 3 µs. */
const restingMax = 1_000;

/**
 * The accounts of which this process knows more than storage, and their turns. All others are in storage only.
 *
 * | list      | its accounts                                                                            |
 * | --------- | --------------------------------------------------------------------------------------- |
 * | `backlog` | have further entries, and get turns in this order                                       |
 * | `behind`  | have further entries, and wait because their lanes have enough to send                  |
 * | `resting` | have no known entries, but a position from which they are read when their shard is woken |
 * | none      | are in a round, have changes to apply, or wait for a lock                               |
 *
 * Reads skip all but the resting ones, so a shard that was woken since such an account was read is read again when it is released.
 * Reads of a resting account start after the position that it had reached at the poll before the last. They visit few of the entries
 * that were deleted and that an old snapshot keeps, and find what commits soon after later entries. Checks find the rest.
 */
export class Accounts {
  readonly #isBehind: (account: AccountId) => boolean;
  readonly shards = new Map<Shard, OwnedShard>();
  readonly #backlog = new Set<QueuedAccount>();
  /** With the retry at which their wait began, the first ones to examine first. */
  readonly behind = new Map<QueuedAccount, number>();
  readonly resting = new Set<QueuedAccount>();
  /** The number of entries of each account that were read since they were last counted anew. */
  readonly #counts = new Map<AccountId, number>();
  /** Accounts of which an entry before their position may have been committed or unblocked. */
  readonly toCheck = new Set<QueuedAccount>();
  #retries = 0;
  #polls = 0;

  constructor(isBehind: (account: AccountId) => boolean) {
    this.#isBehind = isBehind;
  }

  /** How many accounts with entries are in memory. */
  get size(): number {
    let size = -this.resting.size;
    for (const { accounts } of this.shards.values()) size += accounts.size;
    return size;
  }

  add(shard: Shard): void {
    this.shards.set(shard, { shard, accounts: new Map(), isWoken: true, wakes: 0 });
  }

  /** Returns the accounts of the shard that were in memory. */
  remove(shard: Shard): QueuedAccount[] {
    const removed = [...(this.shards.get(shard)?.accounts.values() ?? [])];
    this.shards.delete(shard);
    for (const account of removed) {
      account.isRemoved = true;
      this.toCheck.delete(account);
      this.#unlist(account);
    }
    return removed;
  }

  wake(shards: Iterable<Shard>): void {
    for (const shard of shards) {
      const owned = this.shards.get(shard);
      if (owned === undefined) continue;
      owned.isWoken = true;
      owned.wakes += 1;
    }
  }

  /** Entries of the account, which it may have passed, were unblocked. */
  unblocked(id: AccountId): void {
    const shard = shardOf(id);
    const account = this.shards.get(shard)?.accounts.get(id);
    if (account !== undefined) this.toCheck.add(account);
    this.wake([shard]);
  }

  /** @param first the position of the first entry of the account. It is checked again until it has no earlier one than expected. */
  checked(account: QueuedAccount, first: QueuePosition): void {
    const owned = this.shards.get(account.shard);
    if (owned?.accounts.get(account.id) !== account) return;
    account.early = first <= account.after ? first - 1 : Infinity;
    if (account.early === Infinity) return;
    this.toCheck.add(account);
    if (this.resting.has(account)) owned.isWoken = true;
  }

  /** What a read of the shard that starts now skips. */
  skips({ accounts }: OwnedShard): Skip[] {
    const sorted = [...accounts.values()].toSorted((a, b) => compareIds(a.id, b.id));
    return sorted.map((account) => ({
      account: account.id,
      through: this.resting.has(account) ? Math.min(account.readAfter, account.early) : null,
    }));
  }

  /**
   * Takes the account of a read out of its list, until it is released.
   *
   * @param wakes how often the shard had been woken when the read started
   */
  take(owned: OwnedShard, id: AccountId, wakes: number): QueuedAccount {
    const account = owned.accounts.get(id) ?? new QueuedAccount(id);
    owned.accounts.set(id, account);
    this.#unlist(account);
    account.hasMore = false;
    account.wakes = wakes;
    return account;
  }

  /** Counts entries that were read. */
  count({ id }: QueuedAccount, entries: number): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + entries);
  }

  /** Takes accounts with further entries, in their order, until their turns have about `weightMax` deliveries. */
  takeTurns(weightMax: number, weightOf: (account: AccountId) => number): QueuedAccount[] {
    const taken: QueuedAccount[] = [];
    let weight = 0;
    for (const account of this.#backlog) {
      if (weight >= weightMax) break;
      this.#backlog.delete(account);
      if (!account.isDue && this.#isBehind(account.id)) {
        this.behind.set(account, this.#retries);
        continue;
      }
      account.isDue = false;
      account.hasMore = false;
      account.wakes = this.shards.get(account.shard)?.wakes ?? 0;
      weight += Math.max(turnWeight, weightOf(account.id));
      taken.push(account);
    }
    return taken;
  }

  /** Call it when nothing of the account is in progress. It gets a further turn, rests, or leaves memory. */
  release(account: QueuedAccount): void {
    const owned = this.shards.get(account.shard);
    if (owned === undefined || account.isRemoved) return;
    if (account.hasMore) {
      account.hadMore = true;
      this.#backlog.add(account);
      return;
    }
    const isFrequent = account.isFrequent || (this.#counts.get(account.id) ?? 0) >= frequentEntriesMin;
    // The end of a backlog was read from a position, before which entries may have been committed: an account that rests is checked.
    if (owned.wakes > account.wakes || (account.hadMore && !isFrequent)) owned.isWoken = true;
    if (isFrequent) {
      const [oldest] = this.resting.size < restingMax ? [] : this.resting;
      if (oldest) this.#leave(oldest);
      if (account.hadMore) this.toCheck.add(account);
      account.isFrequent = true;
      this.resting.add(account);
    } else this.#leave(account);
    account.hadMore = false;
  }

  /** Gives accounts that wait for their lanes a turn, once these need more or after 50 retries. Call it every 5 ms. */
  retryBehind(): void {
    this.#retries += 1;
    let left = Math.min(this.behind.size, examinedTogether);
    for (const [account, since] of this.behind) {
      if (left === 0) break;
      left -= 1;
      this.behind.delete(account);
      account.isDue = this.#retries - since >= retriesMax || !this.#isBehind(account.id);
      if (account.isDue) this.#backlog.add(account);
      else this.behind.set(account, since);
    }
  }

  /** Call it at each poll. */
  poll(): void {
    this.#polls += 1;
    for (const { shard, accounts } of this.shards.values()) {
      const isChecked = shard % pollsPerCheck === this.#polls % pollsPerCheck;
      for (const account of accounts.values()) {
        if (isChecked) this.toCheck.add(account);
        account.readAfter = account.polledAfter;
        account.polledAfter = account.after;
      }
    }
    this.wake(this.shards.keys());
  }

  /** Forgets the positions of accounts that had few entries since the last call. */
  countAnew(): void {
    for (const account of this.resting)
      if ((this.#counts.get(account.id) ?? 0) < frequentEntriesMin) this.#leave(account);
    this.#counts.clear();
  }

  #leave(account: QueuedAccount): void {
    this.#unlist(account);
    this.toCheck.delete(account);
    this.shards.get(account.shard)?.accounts.delete(account.id);
  }

  #unlist(account: QueuedAccount): void {
    this.#backlog.delete(account);
    this.behind.delete(account);
    this.resting.delete(account);
  }
}
