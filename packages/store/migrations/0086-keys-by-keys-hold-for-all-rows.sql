-- Keys from before have nulls. In a transaction of its own, so that requests are authenticated meanwhile.
alter table api_key
  validate constraint api_key_name_bounds,
  validate constraint api_key_addresses_bounds,
  validate constraint api_key_created_by_key_bounds,
  validate constraint api_key_created_by_actor_bounds,
  validate constraint api_key_replaced_by_bounds,
  validate constraint api_key_last_used_version_bounds,
  validate constraint api_key_expiry_reported_at_bounds;
