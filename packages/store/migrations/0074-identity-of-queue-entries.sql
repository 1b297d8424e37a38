-- no transaction
-- Names an entry of the queue in a publication of the table. From version 18 on, PostgreSQL refuses updates and deletes of a published
-- table whose replica identity contains a generated column, such as `shard`. It refuses no entry that the primary key accepts, because
-- the account determines the shard.
create unique index concurrently if not exists webhook_event_queue_identity
  on webhook_event_queue (account_id, position);
