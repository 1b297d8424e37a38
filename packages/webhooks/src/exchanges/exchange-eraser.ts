import { type Database, onlyRow, sql } from '@deedwire/store';
import { type IdRange, splitByDays, storedRange, type DeliveryId, type SubscriptionId } from '../kernel/ids.ts';
import { pgArray } from '../kernel/sql.ts';

/** Deliveries per step. Each can have 20 attempts with 16 kB, so that a step deletes some megabytes at most. */
const batchSize = 200;
/** A day costs 4 locks. */
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
    const values = [this.#subscriptionId, part.min, part.before, batchSize];
    const rows = await this.#database.query<{ id: DeliveryId }>(selectStatement, values);
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
    const rows = await this.#database.query<{ expiredBefore: string; now: Date }>(boundsStatement, []);
    const { expiredBefore, now } = onlyRow(rows);
    return splitByDays(
      storedRange({ id: this.#subscriptionId, expiredBefore: BigInt(expiredBefore), now }),
      daysPerStatement,
    );
  }
}

const boundsStatement = sql(
  'select-bounds-of-erasing',
)`select expired_before as "expiredBefore", clock_timestamp() as now from webhook_retention`;

// webhook_delivery_by_subscription: the order by both columns, and "any" for one subscription, keep the planner from another index.
const selectStatement = sql('select-deliveries-to-erase', 'in-index-order')`
    select id
    from webhook_delivery
    where subscription_id = any (array[$1::bigint]) and id >= $2::bigint and id < $3::bigint
    order by subscription_id desc, id desc
    limit $4`;

const eraseStatement = sql('erase-exchanges')`select webhook_erase_exchanges($1::bigint, $2::bigint[])`;

/** Deletes what attempts of these deliveries, at most 1,000, sent and received. Does nothing if the subscription is not deleted. */
async function eraseExchanges(
  database: Database,
  subscriptionId: SubscriptionId,
  deliveries: readonly DeliveryId[],
): Promise<void> {
  await database.query(eraseStatement, [subscriptionId, pgArray(deliveries)]);
}
