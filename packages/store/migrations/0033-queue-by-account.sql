-- no transaction
-- Finds the first entries of an account in the queue: the changes of its subscriptions, then its events. Workers of earlier releases
-- do not read it.
create index concurrently if not exists webhook_event_queue_by_account
  on webhook_event_queue (shard, account_id, (event_id is not null), position)
  where blocked_on is null;
