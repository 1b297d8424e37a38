-- A worker reads events into its memory before it renders them. Without a bound, one row of a login of an interface could end
-- the workers of all accounts. What the interfaces write has less than a third of this. New events only.
alter table webhook_event add constraint webhook_event_is_readable check (
  octet_length(snapshot::text) <= 500000
  and octet_length(event_type) <= 100
  and octet_length(coalesce(request_id, '')) <= 200
) not valid;
