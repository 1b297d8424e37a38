-- PostgreSQL refuses updates and deletes of a published table without a replica identity. No replica identity has a cost unless
-- `wal_level` is `logical`.
alter table webhook_event_queue replica identity using index webhook_event_queue_identity;

-- As webhook_event_queue, it has a generated column in its primary key. It has few rows.
-- squawk-ignore require-concurrent-index-creation
create unique index webhook_deleted_backlog_identity on webhook_deleted_backlog (account_id, subscription_id);
alter table webhook_deleted_backlog replica identity using index webhook_deleted_backlog_identity;

do $do$
declare
  partition_name regclass;
begin
  execute replace(replace($schema$
    -- As before, with the replica identity. A partition does not take over that of its table. webhook_exchange has no unique key;
    -- its rows are only deleted when a person is erased.
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
          if parent = 'webhook_exchange' then
            execute format('alter table %I.%I replica identity full', {schema name}, partition_name);
          end if;
          execute format('alter table %1$I.%3$I attach partition %1$I.%2$I for values from (%4$s) to (%5$s)',
            {schema name}, partition_name, parent,
            (day - date '2026-01-01')::bigint * 86400000 << 22, (day + 1 - date '2026-01-01')::bigint * 86400000 << 22);
        end loop;
      end loop;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema())), '{schema name}', quote_literal(current_schema()));

  -- The table is locked first: no partition is attached or dropped meanwhile.
  alter table only webhook_exchange replica identity full;
  for partition_name in select relid from pg_partition_tree('webhook_exchange') where isleaf loop
    execute format('alter table %s replica identity full', partition_name);
  end loop;
end
$do$;
