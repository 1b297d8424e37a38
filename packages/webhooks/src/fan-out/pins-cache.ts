import type { AccountId } from '../kernel/ids.ts';
import { type Shard, shardOf } from '../kernel/shard.ts';
import type { AccountPins } from '../subscriptions/read-pins.ts';

export interface PinsCacheOptions {
  read: (accounts: readonly AccountId[]) => Promise<ReadonlyMap<AccountId, AccountPins>>;
  /** For how many generations pins are kept. See `age`. */
  generationsMax: number;
}

interface CachedPins {
  readonly pins: AccountPins | null;
  readonly generation: number;
}

/** The maximum number of cached subscriptions and of accounts without any. Bounds the memory. */
const sizeMax = 50_000;

/** Caches the subscriptions of accounts. A read that started before a change of its account is not cached. */
export class PinsCache {
  readonly #options: PinsCacheOptions;
  readonly #cached = new Map<AccountId, CachedPins>();
  readonly #epochs = new Map<AccountId, number>();
  /** How many shards were removed. A read that started before a removal is not cached. */
  #removals = 0;
  #readsInProgress = 0;
  #generation = 0;
  #size = 0;

  constructor(options: PinsCacheOptions) {
    this.#options = options;
  }

  /** Returns the cached pins. Null: the account has no subscriptions. Undefined: not cached. */
  peek(account: AccountId): AccountPins | null | undefined {
    const cached = this.#cached.get(account);
    return cached === undefined || this.#isOld(cached) ? undefined : cached.pins;
  }

  /** Returns the pins of each account. The result does not contain accounts without subscriptions. */
  async get(accounts: readonly AccountId[]): Promise<ReadonlyMap<AccountId, AccountPins>> {
    const found = new Map<AccountId, AccountPins>();
    const missing: AccountId[] = [];
    for (const account of accounts) {
      const pins = this.peek(account);
      if (pins === undefined) missing.push(account);
      else if (pins !== null) found.set(account, pins);
    }
    if (missing.length > 0) {
      for (const [account, pins] of await this.#read(missing)) found.set(account, pins);
    }
    return found;
  }

  /** Call it when a subscription of the account has changed. */
  drop(account: AccountId): void {
    this.#remove(account);
    if (this.#readsInProgress > 0) this.#epochs.set(account, (this.#epochs.get(account) ?? 0) + 1);
  }

  /** Call it when this worker no longer owns the shard, because it is not notified of further changes. */
  dropShard(shard: Shard): void {
    this.#removals += 1;
    for (const account of this.#cached.keys()) if (shardOf(account) === shard) this.#remove(account);
  }

  /** Call it at regular intervals. Pins that are `generationsMax` intervals old are read again. */
  age(): void {
    this.#generation += 1;
    for (const [account, cached] of this.#cached) if (this.#isOld(cached)) this.#remove(account);
  }

  async #read(accounts: readonly AccountId[]): Promise<ReadonlyMap<AccountId, AccountPins>> {
    const generation = this.#generation;
    const removals = this.#removals;
    const epochs = accounts.map((account) => this.#epochs.get(account));
    this.#readsInProgress += 1;
    try {
      const pins = await this.#options.read(accounts);
      for (const [index, account] of accounts.entries()) {
        if (this.#epochs.get(account) !== epochs[index] || this.#removals !== removals) continue;
        this.#add(account, { pins: pins.get(account) ?? null, generation });
      }
      return pins;
    } finally {
      this.#readsInProgress -= 1;
      if (this.#readsInProgress === 0) this.#epochs.clear();
    }
  }

  #add(account: AccountId, cached: CachedPins): void {
    this.#remove(account);
    if (this.#size >= sizeMax) {
      this.#cached.clear();
      this.#size = 0;
    }
    this.#cached.set(account, cached);
    this.#size += sizeOf(cached);
  }

  #remove(account: AccountId): void {
    const cached = this.#cached.get(account);
    if (cached === undefined) return;
    this.#cached.delete(account);
    this.#size -= sizeOf(cached);
  }

  #isOld({ generation }: CachedPins): boolean {
    return this.#generation - generation >= this.#options.generationsMax;
  }
}

function sizeOf({ pins }: CachedPins): number {
  return pins?.subscriptions.length ?? 1;
}
