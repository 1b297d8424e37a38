-- A header with a secret value that the worker sends with each request to a subscription, for what is in front of its receiver. APIs of
-- earlier releases neither show nor change it, and workers of earlier releases send without it. New rows only: 0093 validates the bounds.

alter table webhook_subscription
  -- As its owner wrote it. Null if there is no header.
  add column request_header_name text,
  -- The value, encrypted for this subscription, name and origin. Null if a new callback URL had another origin.
  add column request_header_ciphertext bytea,
  -- Scheme, host and port of the callback URL for which the value was set. If that of the present one differs, the value cannot be
  -- decrypted. Null as the ciphertext is.
  add column request_header_origin text,
  add constraint webhook_subscription_request_header_name_bounds check (char_length(request_header_name) <= 100) not valid,
  add constraint webhook_subscription_request_header_ciphertext_bounds
    check (octet_length(request_header_ciphertext) <= 4157) not valid,
  add constraint webhook_subscription_request_header_origin_bounds check (char_length(request_header_origin) <= 300) not valid,
  add constraint webhook_subscription_request_header_is_whole check (
    (request_header_ciphertext is null) = (request_header_origin is null)
    and (request_header_ciphertext is null or request_header_name is not null)
  ) not valid;
grant update (request_header_name, request_header_ciphertext, request_header_origin) on webhook_subscription to operator;

-- Every release deletes a subscription without naming these columns.
create function webhook_erase_request_header() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.request_header_name := null;
  new.request_header_ciphertext := null;
  new.request_header_origin := null;
  return new;
end
$$;
revoke execute on function webhook_erase_request_header from public;
create trigger erase_request_header before update of deleted_at on webhook_subscription
  for each row when (new.deleted_at is not null and new.request_header_name is not null)
  execute function webhook_erase_request_header();

-- As before, and when the header changes.
do $do$
declare
  guard constant text := (
    select pg_get_triggerdef(oid) from pg_trigger where tgrelid = 'webhook_subscription'::regclass and tgname = 'check_home'
  );
begin
  if cardinality(string_to_array(guard, ', timeout_seconds')) <> 2 then
    raise exception 'The trigger check_home is not that of an earlier migration.';
  end if;
  execute replace(
    replace(guard, 'CREATE TRIGGER', 'create or replace trigger'), ', timeout_seconds',
    ', timeout_seconds, request_header_name, request_header_ciphertext, request_header_origin'
  );
end
$do$;

-- False for a worker of an earlier release, which does not write it.
alter table webhook_worker add column sends_request_headers boolean not null default false;

do $do$
declare
  app text;
begin
  execute replace($schema$
    -- Whether no worker of an earlier release runs, which would send without the headers. Workers belong to no interface, so the
    -- interfaces do not read them.
    create function webhook_sends_request_headers() returns boolean
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      select not exists (
        select
        from {schema}.webhook_worker w
        where w.alive and w.leased_until > clock_timestamp() and not w.sends_request_headers
      )
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
  revoke execute on function webhook_sends_request_headers from public;
  for app in select role_of_interface(name) from interface loop
    execute format('grant update (request_header_name, request_header_ciphertext, request_header_origin) on webhook_subscription to %I', app);
    execute format('grant execute on function webhook_sends_request_headers to %I', app);
  end loop;
  grant execute on function webhook_sends_request_headers to operator;
end
$do$;
