-- no transaction
-- Serves forget_ended_api_keys() and report_expiring_api_keys().
create index concurrently if not exists api_key_by_end
  on api_key (least(revoked_at, expires_at));
