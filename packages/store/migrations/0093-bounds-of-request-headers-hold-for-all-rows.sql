-- Validates the bounds of 0092. Reads the table, and blocks no app. No row had a header.

alter table webhook_subscription
  validate constraint webhook_subscription_request_header_name_bounds,
  validate constraint webhook_subscription_request_header_ciphertext_bounds,
  validate constraint webhook_subscription_request_header_origin_bounds,
  validate constraint webhook_subscription_request_header_is_whole;
