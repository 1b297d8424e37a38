-- no transaction
-- Finds the subscriptions of a shard that others than their owner have paused.
create index concurrently if not exists webhook_subscription_paused_by_others
  on webhook_subscription (shard, id)
  where deleted_at is null and kind = 'PUSH' and paused_reason <> 'OWNER';
