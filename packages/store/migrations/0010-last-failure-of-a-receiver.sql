-- The time of a failure counts only together with the time of the failure before it: silence is no failure.

-- The last failure since the last success. Null if there was none, or if a worker of an earlier release wrote the row.
alter table webhook_receiver_state add column last_failure_at timestamptz(3);
