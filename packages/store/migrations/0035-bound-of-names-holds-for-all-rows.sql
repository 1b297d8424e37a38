-- Validates the bound of 0034. Reads the table, and blocks no app. All names were written within the bound.

alter table webhook_subscription validate constraint webhook_subscription_name_bounds;
