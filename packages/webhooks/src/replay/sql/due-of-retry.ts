/**
 * When the delivery of a row `r` of webhook_replay is due: now, and that of a retry also before the first one of its subscription.
 * Served by webhook_pending_delivery_due.
 */
export const dueOfRetry = `least(
        date_trunc('milliseconds', now()),
        (
          select due_at - interval '1 millisecond'
          from webhook_pending_delivery
          where subscription_id = r.subscription_id and r.delivery_id is not null
          order by due_at, sequence
          limit 1
        )
      )`;
