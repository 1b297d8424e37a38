-- The delivery of the last failure, whose latest attempt says why a receiver fails. Workers of earlier releases keep an earlier one.

-- Null as last_failure_at, or if a worker of an earlier release wrote the row. The row of a subscription that failures have paused
-- has the delivery that led to it, and no failures.
alter table webhook_receiver_state add column last_failed_delivery_id bigint;
