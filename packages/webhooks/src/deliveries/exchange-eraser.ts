import type { Store } from '@deedwire/store';
import { selectBoundsOfAllAccounts, selectDeliveryIds } from '../deliveries/delivery-ids.ts';
import { type IdRange, listedRange, splitByDays } from '../deliveries/pages.ts';
import type { DeliveryId, SubscriptionId } from '../kernel/ids.ts';
import { eraseExchanges } from './sql/erase-exchanges.ts';

/** Deliveries per step. Each can have 20 attempts with 16 kB, so that a step deletes some megabytes at most. */
const batchSize = 200;
/** A day costs 3 locks. */
const daysPerStatement = 14;

/**
 * Erases what attempts of a deleted subscription sent and received, newest deliveries first. No index has the subscriptions of
 * exchanges, because every attempt would pay for it, so this walks through the deliveries of the subscription.
 */
export class ExchangeEraser {
  readonly #store: Store;
  readonly #subscriptionId: SubscriptionId;
  #parts: Iterator<IdRange> | null = null;
  /** What is left of the present part. */
  #part: IdRange | null = null;

  constructor(store: Store, subscriptionId: SubscriptionId) {
    this.#store = store;
    this.#subscriptionId = subscriptionId;
  }

  /** Erases a batch. Returns false once nothing is left. */
  async step(): Promise<boolean> {
    const part = await this.#nextPart();
    if (part === null) return false;
    const positions = [{ subscriptionId: this.#subscriptionId, before: part.before }];
    const rows = await selectDeliveryIds(this.#store, 'every', positions, part, batchSize);
    const ids: DeliveryId[] = rows.map(({ id }) => id);
    if (ids.length > 0) await eraseExchanges(this.#store, this.#subscriptionId, ids);
    const last = ids[batchSize - 1];
    this.#part = last === undefined ? null : { min: part.min, before: BigInt(last) };
    return true;
  }

  async #nextPart(): Promise<IdRange | null> {
    if (this.#part !== null) return this.#part;
    this.#parts ??= await this.#readParts();
    const next = this.#parts.next();
    return next.done === true ? null : next.value;
  }

  async #readParts(): Promise<Iterator<IdRange>> {
    const bounds = { ...(await selectBoundsOfAllAccounts(this.#store)), oldestSubscriptionId: this.#subscriptionId };
    return splitByDays(listedRange(bounds, null, null), daysPerStatement);
  }
}
