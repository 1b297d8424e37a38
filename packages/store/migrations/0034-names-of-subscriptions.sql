-- What its owner calls a subscription. APIs of earlier releases neither show nor change it. New rows only: 0035 validates the bound.

alter table webhook_subscription
  add column name text,
  add constraint webhook_subscription_name_bounds check (char_length(name) <= 100) not valid;
grant update (name) on webhook_subscription to lender_api, partner_api;

-- APIs of earlier releases delete a subscription without erasing its name.
create function webhook_erase_name() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.name := null;
  return new;
end
$$;
revoke execute on function webhook_erase_name from public;
create trigger erase_name before update of deleted_at on webhook_subscription
  for each row when (new.deleted_at is not null) execute function webhook_erase_name();
