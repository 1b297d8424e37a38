-- no transaction
-- Finds the failed deliveries of a subscription that no alert has reported. Few rows.
create index concurrently if not exists webhook_failed_delivery_to_report
  on webhook_failed_delivery (subscription_id, failed_at)
  where failed_at is not null;
