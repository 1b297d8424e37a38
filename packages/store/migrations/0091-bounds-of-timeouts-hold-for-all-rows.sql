-- Validates the bounds of 0090. Reads the table, and blocks no app. All timeouts were written within the bounds.

alter table webhook_subscription
  validate constraint webhook_subscription_timeout_seconds_bounds,
  validate constraint webhook_subscription_timeout_lowered_at_bounds;
