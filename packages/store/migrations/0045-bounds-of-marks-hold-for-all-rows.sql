-- Validates the bounds of 0039. Reads the table, and blocks no app. All marks were written within the bounds.

alter table webhook_subscription
  validate constraint webhook_subscription_hastened_at_bounds,
  validate constraint webhook_subscription_send_pending_at_bounds;
