-- no transaction
-- Finds the deliveries that are EXPIRED because a person was erased. Few rows.
create index concurrently if not exists webhook_failed_delivery_erased
  on webhook_failed_delivery (subscription_id, delivery_id)
  where is_erased;
