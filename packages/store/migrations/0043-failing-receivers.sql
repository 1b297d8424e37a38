-- no transaction
-- Finds the receivers that fail. A failure after the first one does not change it.
create index concurrently if not exists webhook_receiver_state_failing
  on webhook_receiver_state (failing_since)
  where failing_since is not null;
