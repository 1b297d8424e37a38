/**
 * The `ctid` of the row of webhook_pending_delivery with the key `r (subscription_id, delivery_id)`. Null if there is none.
 *
 * A backlog can come within seconds after the statistics said that the table is empty. The lookups keep the planner from
 * comparing each row of the table with each row of the batch. Their order keeps it from using another index than the primary
 * key; with "=" in place of "between" there would be nothing to order.
 */
export const pendingRow = lookup('');

/** The same, also null if another transaction has locked the row. Locks it otherwise. */
export const unlockedPendingRow = lookup('for update skip locked');

function lookup(lock: string): string {
  return `(
        select ctid
        from webhook_pending_delivery
        where subscription_id = r.subscription_id and delivery_id between r.delivery_id and r.delivery_id
        order by delivery_id
        limit 1
        ${lock}
      )`;
}
