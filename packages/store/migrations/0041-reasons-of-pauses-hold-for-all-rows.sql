-- Validates the constraint of 0040. Reads the table, and blocks no app. The old constraint was stricter.

alter table webhook_subscription validate constraint webhook_subscription_paused_reason_check;
