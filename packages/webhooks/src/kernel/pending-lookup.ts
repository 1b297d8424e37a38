/**
 * Joins `r (subscription_id, delivery_id)` to the `ctid` of one row of webhook_pending_delivery each: `found`. The next row of the
 * subscription is found if there is none with this id, so the statement compares `p.delivery_id` with `r.delivery_id` too.
 *
 * A backlog can come within seconds after the statistics said that the table is empty. The lookups keep the planner from
 * comparing each row of the table with each row of the batch, and their order from using another index than the primary key.
 */
export const pendingLookup = `cross join lateral (
        select ctid
        from webhook_pending_delivery
        where subscription_id = r.subscription_id and delivery_id >= r.delivery_id
        order by delivery_id
        limit 1
      ) found`;
