import type { Database, Statement } from '@deedwire/store';
import type { DeliveryId, SubscriptionId } from '../kernel/ids.ts';
import { pgArray } from '../kernel/pg-array.ts';
import { selectBoundsOfAllAccounts, selectDeliveryIds } from './delivery-ids.ts';
import { type IdRange, listedRange, splitByDays } from './pages.ts';

/** Deliveries per step. Each can have 20 attempts with 16 kB, so that a step deletes some megabytes at most. */
const batchSize = 200;
/** A day costs 3 locks. */
const daysPerStatement = 14;

/**
 * Erases what attempts of a deleted subscription sent and received, newest deliveries first. No index has the subscriptions of
 * exchanges, because every attempt would pay for it, so this walks through the deliveries of the subscription.
 */
export class ExchangeEraser {
  readonly #database: Database;
  readonly #subscriptionId: SubscriptionId;
  #parts: Iterator<IdRange> | null = null;
  /** What is left of the present part. */
  #part: IdRange | null = null;

  constructor(database: Database, subscriptionId: SubscriptionId) {
    this.#database = database;
    this.#subscriptionId = subscriptionId;
  }

  /** Erases a batch. Returns false once nothing is left. */
  async step(): Promise<boolean> {
    const part = await this.#nextPart();
    if (part === null) return false;
    const positions = [{ subscriptionId: this.#subscriptionId, before: part.before }];
    const rows = await selectDeliveryIds(this.#database, 'every', positions, part, batchSize);
    const ids: DeliveryId[] = rows.map(({ id }) => id);
    if (ids.length > 0) await eraseExchanges(this.#database, this.#subscriptionId, ids);
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
    const bounds = { ...(await selectBoundsOfAllAccounts(this.#database)), oldestSubscriptionId: this.#subscriptionId };
    return splitByDays(listedRange(bounds, null, null), daysPerStatement);
  }
}

const eraseStatement: Statement = {
  name: 'erase-exchanges',
  text: 'select webhook_erase_exchanges($1::bigint, $2::bigint[])',
};

/** Deletes what attempts of these deliveries, at most 1,000, sent and received. Does nothing if the subscription is not deleted. */
async function eraseExchanges(
  database: Database,
  subscriptionId: SubscriptionId,
  deliveries: readonly DeliveryId[],
): Promise<void> {
  await database.query(eraseStatement, [subscriptionId, pgArray(deliveries)]);
}
