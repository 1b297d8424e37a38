-- Details of attempts name the URL by its number, where a digest of the URL could be tried out. Apps of the previous release work
-- beside this: its workers write the digest and no number, its APIs show no URL for what the workers of this release write.

alter table webhook_exchange
  -- The digest of the URL, by workers of the previous release. No longer written or read; drop it in the next release.
  alter column callback_url drop not null,
  -- url_number of the subscription when the target was read. Null if a worker of the previous release wrote the row.
  add column url_number int,
  -- The retry or replay that queued the delivery again. Null if fan-out did.
  add column replay_id bigint;

-- Resuming a subscription increments url_number without another URL. This is the number since which the URL is the current one.
-- Null if url_number was not incremented since this migration, or since the subscription was created.
alter table webhook_subscription add column callback_url_since int;

-- A trigger, because the previous release of the APIs and of the operator's commands does not know the column.
create function set_callback_url_since() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  new.callback_url_since := case
    when new.callback_url = old.callback_url then coalesce(old.callback_url_since, old.url_number)
    else new.url_number
  end;
  return new;
end
$$;
revoke execute on function set_callback_url_since from public;
create trigger set_callback_url_since before update of url_number on webhook_subscription
  for each row execute function set_callback_url_since();

do $do$
begin
  execute replace($schema$
    -- Deletes what attempts of these deliveries sent and received. The subscription must be deleted. Served by
    -- webhook_exchange_by_attempt. The bound of the ids excludes the partitions of coming days.
    create function webhook_erase_exchanges(of_subscription bigint, of_deliveries bigint[]) returns bigint
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      deliveries_max constant int := 1000;
      erased bigint;
    begin
      if cardinality(of_deliveries) > deliveries_max then
        raise exception 'The exchanges of at most % deliveries are erased at once, not of %.', deliveries_max,
          cardinality(of_deliveries);
      end if;
      delete from {schema}.webhook_exchange e
      using {schema}.webhook_subscription s
      where s.id = of_subscription and s.deleted_at is not null
        and e.delivery_id = any (of_deliveries) and e.subscription_id = of_subscription
        and e.id < (extract(epoch from clock_timestamp() - timestamptz '2026-01-01Z')::bigint + 86400) * 1000 << 22;
      get diagnostics erased = row_count;
      return erased;
    end
    $$
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function webhook_erase_exchanges from public;
grant execute on function webhook_erase_exchanges to webhook_worker;

-- `deedwire-operator delivery show`.
create policy operator on webhook_exchange for select to operator using (true);
grant select on webhook_exchange to operator;
