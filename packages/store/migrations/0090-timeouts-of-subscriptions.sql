-- How long a worker waits for the response to a delivery. APIs of earlier releases neither show nor change it, and workers of earlier
-- releases wait for 5 seconds. New rows only: 0091 validates the bounds.

alter table webhook_subscription
  -- A constant default: no row is written.
  add column timeout_seconds smallint not null default 5,
  -- When it was last shortened. A request that is in flight, or starts within seconds, can still have the longer one.
  add column timeout_lowered_at timestamptz(3),
  add constraint webhook_subscription_timeout_seconds_bounds check (timeout_seconds between 5 and 15) not valid,
  add constraint webhook_subscription_timeout_lowered_at_bounds
    check (timeout_lowered_at between '1970-01-01Z' and '9999-12-31Z') not valid;
grant update (timeout_seconds) on webhook_subscription to lender_api, partner_api, operator;

create function webhook_note_lowered_timeout() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.timeout_lowered_at := case when tg_op = 'UPDATE' then clock_timestamp() end;
  return new;
end
$$;
revoke execute on function webhook_note_lowered_timeout from public;
create trigger clear_lowered_timeout before insert on webhook_subscription
  for each row when (new.timeout_lowered_at is not null) execute function webhook_note_lowered_timeout();
create trigger note_lowered_timeout before update of timeout_seconds on webhook_subscription
  for each row when (new.timeout_seconds < old.timeout_seconds) execute function webhook_note_lowered_timeout();

-- As before, and when the timeout changes.
do $do$
declare
  guard constant text := (
    select pg_get_triggerdef(oid) from pg_trigger where tgrelid = 'webhook_subscription'::regclass and tgname = 'check_home'
  );
begin
  if cardinality(string_to_array(guard, ', send_pending_at')) <> 2 then
    raise exception 'The trigger check_home is not that of an earlier migration.';
  end if;
  execute replace(
    replace(guard, 'CREATE TRIGGER', 'create or replace trigger'), ', send_pending_at', ', send_pending_at, timeout_seconds'
  );
end
$do$;
