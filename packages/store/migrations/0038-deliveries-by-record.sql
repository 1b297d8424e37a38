-- no transaction
-- Finds the deliveries of the events about a record, newest first. One of events would not do: nothing finds the deliveries of an event,
-- which can be fanned out days later and out of order. Partitions of later days get it when they are attached.
create index concurrently if not exists webhook_delivery_by_record
  on webhook_delivery (record_id, account_id, id)
  where record_id is not null;
