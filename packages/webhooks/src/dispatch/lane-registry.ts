import { type AccountId, type SubscriptionId, type LaneId, type Shard, shardCount } from '../kernel/ids.ts';
import { Account, Lane } from './lane.ts';

export interface BreakerCounts {
  readonly closed: number;
  readonly open: number;
  readonly halfOpen: number;
}

/** The lanes in memory. Idle lanes stay for their history, and are evicted when there are too many lanes. */
export class LaneRegistry {
  readonly #lanes = new Map<SubscriptionId, Lane>();
  readonly #accounts = new Map<AccountId, Account>();
  readonly #shards = Array.from({ length: shardCount }, () => new Set<Lane>());
  readonly #lanesMax: number;
  readonly #targetMaxAgeMs: number;
  /** The lanes that `#forgetIdleLane` examines next. */
  #hand: Iterator<Lane, undefined>;

  constructor(lanesMax: number, targetMaxAgeMs: number) {
    this.#lanesMax = lanesMax;
    this.#targetMaxAgeMs = targetMaxAgeMs;
    this.#hand = this.#lanes.values();
  }

  get size(): number {
    return this.#lanes.size;
  }

  find(id: SubscriptionId): Lane | undefined {
    return this.#lanes.get(id);
  }

  findAccount(id: AccountId): Account | undefined {
    return this.#accounts.get(id);
  }

  get accounts(): AccountId[] {
    return [...this.#accounts.keys()];
  }

  findOrAdd({ subscriptionId, accountId }: LaneId): Lane {
    const found = this.#lanes.get(subscriptionId);
    if (found !== undefined) return found;
    if (this.#lanes.size >= this.#lanesMax) this.#forgetIdleLane();
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = new Account(accountId);
      this.#accounts.set(accountId, account);
    }
    account.lanes += 1;
    const lane = new Lane(subscriptionId, account, this.#targetMaxAgeMs);
    this.#lanes.set(subscriptionId, lane);
    this.#shards[account.shard]?.add(lane);
    return lane;
  }

  remove(lane: Lane): void {
    if (this.#lanes.get(lane.id) !== lane) return;
    this.#lanes.delete(lane.id);
    this.#shards[lane.account.shard]?.delete(lane);
    lane.account.lanes -= 1;
    if (lane.account.lanes === 0) this.#accounts.delete(lane.account.id);
  }

  inShard(shard: Shard): Lane[] {
    return [...(this.#shards[shard] ?? [])];
  }

  /** How many lanes have a closed breaker, one that is open, and one that lets single requests through. */
  breakers(nowMs: number): BreakerCounts {
    let [open, halfOpen] = [0, 0];
    for (const { receiver } of this.#lanes.values()) {
      if (!receiver.isBreakerOpen) continue;
      if (receiver.allowedFromMs > nowMs) open += 1;
      else halfOpen += 1;
    }
    return { closed: this.size - open - halfOpen, open, halfOpen };
  }

  all(): Lane[] {
    return [...this.#lanes.values()];
  }

  /** Examines at most eight lanes. Each call continues after the last one. */
  #forgetIdleLane(): void {
    for (let looked = 0; looked < 8; looked += 1) {
      const { value: lane } = this.#hand.next();
      if (lane === undefined) this.#hand = this.#lanes.values();
      else if (lane.isIdle) return this.remove(lane);
    }
  }
}
