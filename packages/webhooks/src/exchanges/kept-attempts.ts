import type { DetailsPolicy } from '@deedwire/webhook-sender';
import type { SubscriptionId } from '../kernel/ids.ts';

/** How often a plain first success is kept: of one subscription, and of all of a worker. */
const plainEveryMs = 1_000;
const plainPerSecond = 200;
/** Bytes of response bodies: of one subscription, and of all of a worker. */
const subscriptionBytes = { maximum: 1_000_000, perSecond: 16_000 };
const workerBytes = { maximum: 4_000_000, perSecond: 4_000_000 };
/** After this time, the allowance of a subscription is full again, so it need not be remembered. */
const forgottenAfterMs = 64_000;
const fewSubscriptions = 1_024;

interface Policies {
  readonly first: DetailsPolicy;
  readonly later: DetailsPolicy;
  lastUseMs: number;
}

/**
 * Decides of which attempts the details are kept: of every attempt that is not a plain first success, and of those one per second
 * and subscription, and 200 per second altogether. A plain first success is the first attempt of a delivery, with a complete
 * response of 2xx.
 */
export class KeptAttempts {
  readonly #plain = new Budget(plainPerSecond, plainPerSecond);
  readonly #bytes = new Budget(workerBytes.maximum, workerBytes.perSecond);
  readonly #subscriptions = new Map<SubscriptionId, Policies>();
  #sizeToForgetAt = fewSubscriptions;

  /** @param number of the attempt, from 1 */
  policyOf(id: SubscriptionId, number: number): DetailsPolicy {
    let policies = this.#subscriptions.get(id);
    if (policies === undefined) {
      if (this.#subscriptions.size >= this.#sizeToForgetAt) this.#forget(performance.now());
      policies = this.#createPolicies();
      this.#subscriptions.set(id, policies);
    }
    return number === 1 ? policies.first : policies.later;
  }

  /** The number of subscriptions in memory. */
  get size(): number {
    return this.#subscriptions.size;
  }

  #createPolicies(): Policies {
    const bytes = new Budget(subscriptionBytes.maximum, subscriptionBytes.perSecond);
    let lastPlainMs = -Infinity;
    const keepsPlain = (nowMs: number): boolean => {
      if (nowMs - lastPlainMs < plainEveryMs || !this.#plain.take(1, nowMs)) return false;
      lastPlainMs = nowMs;
      return true;
    };
    const shared = {
      takeBytes: (count: number, nowMs: number): boolean => {
        policies.lastUseMs = nowMs;
        if (!bytes.take(count, nowMs)) return false;
        if (this.#bytes.take(count, nowMs)) return true;
        bytes.giveBack(count);
        return false;
      },
      returnBytes: (count: number): void => {
        bytes.giveBack(count);
        this.#bytes.giveBack(count);
      },
    };
    const policies: Policies = {
      first: { ...shared, keeps: (status, nowMs) => status < 200 || status > 299 || keepsPlain(nowMs) },
      later: { ...shared, keeps: () => true },
      lastUseMs: performance.now(),
    };
    return policies;
  }

  #forget(nowMs: number): void {
    for (const [id, { lastUseMs }] of this.#subscriptions) {
      if (nowMs - lastUseMs > forgottenAfterMs) this.#subscriptions.delete(id);
    }
    this.#sizeToForgetAt = Math.max(fewSubscriptions, 2 * this.#subscriptions.size);
  }
}

/** An allowance that is restored over time. */
export class Budget {
  readonly #maximum: number;
  readonly #perMs: number;
  #left: number;
  #restoredAtMs = -Infinity;

  /** @param maximum what can be taken at once, after a while without use */
  constructor(maximum: number, perSecond: number) {
    this.#maximum = maximum;
    this.#perMs = perSecond / 1_000;
    this.#left = maximum;
  }

  /** Takes all or nothing. */
  take(amount: number, nowMs: number): boolean {
    if (nowMs > this.#restoredAtMs) {
      this.#left = Math.min(this.#maximum, this.#left + (nowMs - this.#restoredAtMs) * this.#perMs);
      this.#restoredAtMs = nowMs;
    }
    if (this.#left < amount) return false;
    this.#left -= amount;
    return true;
  }

  giveBack(amount: number): void {
    this.#left = Math.min(this.#maximum, this.#left + amount);
  }
}
