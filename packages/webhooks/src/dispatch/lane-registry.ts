import type { AccountId, SubscriptionId } from '../kernel/ids.ts';
import type { LaneId } from '../kernel/lane-id.ts';
import type { Shard } from '../kernel/shard.ts';
import { Account } from './account.ts';
import { Lane } from './lane.ts';

/** The lanes in memory. Idle lanes stay for their history, and are evicted when there are too many lanes. */
export class LaneRegistry {
  readonly #lanes = new Map<SubscriptionId, Lane>();
  readonly #accounts = new Map<AccountId, Account>();
  readonly #lanesMax: number;

  constructor(lanesMax: number) {
    this.#lanesMax = lanesMax;
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
    const lane = new Lane(subscriptionId, account);
    this.#lanes.set(subscriptionId, lane);
    return lane;
  }

  remove(lane: Lane): void {
    if (this.#lanes.get(lane.id) !== lane) return;
    this.#lanes.delete(lane.id);
    lane.account.lanes -= 1;
    if (lane.account.lanes === 0) this.#accounts.delete(lane.account.id);
  }

  inShard(shard: Shard): Lane[] {
    return this.all().filter((lane) => lane.account.shard === shard);
  }

  all(): Lane[] {
    return [...this.#lanes.values()];
  }

  /** Examines at most eight lanes. Moves lanes in use to the end, so that the next call examines others. */
  #forgetIdleLane(): void {
    let looked = 0;
    for (const lane of this.#lanes.values()) {
      if (lane.isIdle) return this.remove(lane);
      this.#lanes.delete(lane.id);
      this.#lanes.set(lane.id, lane);
      looked += 1;
      if (looked === 8) return;
    }
  }
}
