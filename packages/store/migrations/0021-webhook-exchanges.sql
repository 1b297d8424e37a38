-- What an attempt sent and received, for the owner of the webhook. Written once and after the attempt, without a guarantee: a row
-- can be missing.
--
-- Partitioned by the time at which the row was written, not by its delivery: an attempt of an old delivery would otherwise belong
-- to a day that has been dropped.
create table webhook_exchange (
  id bigint not null default new_record_id(),
  delivery_id bigint not null,
  -- With started_at, the attempt. Two workers can make attempts with the same number, of which one is recorded.
  number int not null,
  started_at timestamptz(3) not null,
  subscription_id bigint not null,
  interface interface_name not null,
  callback_url text not null,
  -- Names and values in turn, as are response_headers.
  request_headers text[] not null,
  -- Null if no address was tried. `text`, because `inet` has no zones.
  remote_address text,
  -- In milliseconds. Null for a step that the attempt did not take or complete.
  dns_ms int,
  connect_ms int,
  tls_ms int,
  first_byte_ms int,
  response_headers text[] not null,
  -- The beginning of the response body. Null if it was not kept.
  body bytea,
  -- How much of the response body was read.
  body_bytes int not null
) partition by range (id);
create index webhook_exchange_by_attempt on webhook_exchange (delivery_id, number);

alter table webhook_exchange enable row level security;
create policy lender_api on webhook_exchange for select to lender_api using (interface = 'lender');
create policy partner_api on webhook_exchange for select to partner_api using (interface = 'partner');
create policy webhook_worker on webhook_exchange for insert to webhook_worker with check (true);
grant select on webhook_exchange to lender_api, partner_api;
grant insert on webhook_exchange to webhook_worker;

do $do$
begin
  execute replace(replace($schema$
    -- Creates the missing partitions of the history, from yesterday (the clock can be set back) to `days_ahead` days from
    -- today. A partition holds the ids of one day, from midnight UTC. It is created and then attached, because `create table …
    -- partition of` locks out every reader of the parent. The bound keeps a compromised login from filling the catalog.
    create or replace procedure webhook_create_partitions(days_ahead int)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      days_ahead_max constant int := 366;
      parent text;
      day date;
      partition_name text;
      today date := (clock_timestamp() at time zone 'UTC')::date;
    begin
      if days_ahead is null or days_ahead > days_ahead_max then
        raise exception 'Partitions are created for at most % days, not %.', days_ahead_max, days_ahead;
      end if;
      foreach parent in array
        array['webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_attempt', 'webhook_exchange']
      loop
        for day in select generate_series(today - 1, today + days_ahead, interval '1 day')::date loop
          partition_name := parent || to_char(day, '_YYYYMMDD');
          continue when to_regclass(format('%I.%I', {schema name}, partition_name)) is not null;
          execute format('create table %1$I.%2$I (like %1$I.%3$I including defaults including constraints)',
            {schema name}, partition_name, parent);
          execute format('alter table %1$I.%3$I attach partition %1$I.%2$I for values from (%4$s) to (%5$s)',
            {schema name}, partition_name, parent,
            (day - date '2026-01-01')::bigint * 86400000 << 22, (day + 1 - date '2026-01-01')::bigint * 86400000 << 22);
        end loop;
      end loop;
    end
    $$;

    -- The partitions of webhook_exchange whose rows are all older than `keep_days`, oldest first. They need no other row and no
    -- other row needs them, so this does not depend on webhook_retention.
    create function webhook_due_exchange_partitions(keep_days int) returns setof text
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      keep_days_min constant int := 1;
    begin
      if keep_days is null or keep_days < keep_days_min then
        raise exception 'The details of attempts are kept for at least % day, not %.', keep_days_min, keep_days;
      end if;
      return query
        select c.relname::text
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = format('%I.webhook_exchange', {schema name})::regclass
          and c.relname ~ '^webhook_exchange_\d{8}$'
          and right(c.relname::text, 8) < to_char((clock_timestamp() at time zone 'UTC')::date - keep_days, 'YYYYMMDD')
        order by 1;
    end
    $$;

    -- Drops the first partition of the list above, and returns its name, or null if the list is empty. The lock timeout is that
    -- of webhook_drop_partition.
    create function webhook_drop_exchange_partition(keep_days int) returns text
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '100ms'
    as $$
    declare
      due text;
    begin
      select * into due from {schema}.webhook_due_exchange_partitions(keep_days) limit 1;
      if due is null then
        return null;
      end if;
      lock table only {schema}.webhook_exchange in access exclusive mode;
      execute format('drop table %I.%I', {schema name}, due);
      return due;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema())), '{schema name}', quote_literal(current_schema()));
end
$do$;

revoke execute on function webhook_due_exchange_partitions, webhook_drop_exchange_partition from public;
grant execute on function webhook_due_exchange_partitions, webhook_drop_exchange_partition to webhook_worker;

-- Enough to start with. The worker keeps 60 days ahead.
call webhook_create_partitions(14);
