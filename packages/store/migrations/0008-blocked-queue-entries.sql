-- Entries of the queue that the owner of the shard cannot fan out, so that its reads of the queue do not visit them. The
-- workers of earlier releases ignore the column, and read these entries like all others.

alter table webhook_event_queue
  -- The event type, if the owner does not know it or a version of it that a subscription pins. 'REFUSED' if the database
  -- refused what the entry leads to. Null if the entry can be fanned out.
  add column blocked_on text;

create index webhook_event_queue_ready on webhook_event_queue (shard, position) where blocked_on is null;
create index webhook_event_queue_blocked
  on webhook_event_queue (shard, account_id, blocked_on, coalesce(subscription_id, 0), position)
  where blocked_on is not null;
