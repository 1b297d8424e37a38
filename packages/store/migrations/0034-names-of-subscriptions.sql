-- What its owner calls a subscription. APIs of earlier releases neither show nor change it.

alter table webhook_subscription
  add column name text constraint webhook_subscription_name_bounds check (char_length(name) <= 100);
grant update (name) on webhook_subscription to lender_api, partner_api;
