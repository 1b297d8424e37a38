import type { AccountId } from '../kernel/ids.ts';
import type { AccountPins } from '../subscriptions/read-pins.ts';
import type { QueuedAccount } from './queued-account.ts';

interface CachedPins {
  readonly pins: AccountPins | null;
  readonly generation: number;
}

type ReadPins = (accounts: readonly AccountId[]) => Promise<ReadonlyMap<AccountId, AccountPins>>;

/** The maximum number of cached subscriptions and of accounts without any. Bounds the memory. */
const sizeMax = 50_000;

/**
 * Caches the subscriptions of accounts. Only the round of an account reads them, and an account is in one round at a time, so no
 * read is in progress when one of its changes is found.
 */
export class PinsCache {
  readonly #readPins: ReadPins;
  readonly #generationsMax: number;
  readonly #cached = new Map<AccountId, CachedPins>();
  #generation = 0;
  #size = 0;

  /** @param generationsMax for how many generations pins are kept. See `age` */
  constructor(readPins: ReadPins, generationsMax: number) {
    this.#readPins = readPins;
    this.#generationsMax = generationsMax;
  }

  /** Returns the cached pins. Null: the account has no subscriptions. Undefined: not cached. */
  peek(account: AccountId): AccountPins | null | undefined {
    return this.#cached.get(account)?.pins;
  }

  /** Returns the pins of each account. The result does not contain accounts without subscriptions. */
  async get(accounts: readonly QueuedAccount[]): Promise<ReadonlyMap<AccountId, AccountPins>> {
    const found = new Map<AccountId, AccountPins>();
    const missing = accounts.filter(({ id }) => {
      const pins = this.peek(id);
      if (pins !== undefined && pins !== null) found.set(id, pins);
      return pins === undefined;
    });
    if (missing.length === 0) return found;
    const generation = this.#generation;
    const read = await this.#readPins(missing.map(({ id }) => id));
    for (const account of missing) {
      const pins = read.get(account.id);
      if (pins !== undefined) found.set(account.id, pins);
      // Nothing tells this worker of further changes in a shard that it lost.
      if (!account.isRemoved) this.#add(account.id, { pins: pins ?? null, generation });
    }
    return found;
  }

  /** Call it when a subscription of the account has changed, or when this worker no longer owns its shard. */
  drop(account: AccountId): void {
    const cached = this.#cached.get(account);
    if (cached === undefined) return;
    this.#cached.delete(account);
    this.#size -= cached.pins?.subscriptions.length ?? 1;
  }

  dropAll(isDropped: (account: AccountId) => boolean): void {
    for (const account of this.#cached.keys()) if (isDropped(account)) this.drop(account);
  }

  /** Call it at regular intervals. Pins that are `generationsMax` intervals old are read again. */
  age(): void {
    this.#generation += 1;
    for (const [account, { generation }] of this.#cached)
      if (this.#generation - generation >= this.#generationsMax) this.drop(account);
  }

  #add(account: AccountId, cached: CachedPins): void {
    this.drop(account);
    if (this.#size >= sizeMax) this.dropAll(() => true);
    this.#cached.set(account, cached);
    this.#size += cached.pins?.subscriptions.length ?? 1;
  }
}
