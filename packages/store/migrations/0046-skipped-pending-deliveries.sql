-- How many deliveries a replay skipped because they were pending. Workers of earlier releases count them as skipped only.

alter table webhook_replay
  -- Included in `skipped`. Null for a replay from before this migration.
  -- squawk-ignore prefer-bigint-over-int
  add column skipped_pending int,
  alter column skipped_pending set default 0;
grant update (skipped_pending) on webhook_replay to webhook_worker;
