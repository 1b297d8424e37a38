-- Deleted subscriptions whose pending deliveries and receiver state must still be deleted. Empty most of the time. Without a
-- foreign key, so that no lock of a subscription delays its worker.
create table webhook_deleted_backlog (
  shard smallint not null generated always as ((account_id & 63)::smallint) stored,
  subscription_id bigint not null,
  account_id bigint not null,
  primary key (shard, subscription_id)
);

grant select, insert, delete on webhook_deleted_backlog to webhook_worker;
grant select on webhook_deleted_backlog to operator;

-- How long a lease lasts. A lease that ends later was renewed before the clock was set back. Null for a worker of an earlier
-- release.
alter table webhook_worker add column lease_ms int;

-- Serves sequence_states(). A row of the table is inserted rarely, and the column never changes.
create index webhook_subscription_by_queue_position on webhook_subscription (queue_position);

-- A copy of the rows of a database, such as a logical replica, does not copy its sequences. Both functions run with the rights
-- of the owner, because the apps may not read or set most of these sequences.
do $do$
begin
  execute replace(replace($schema$
    -- The last number of each sequence, and the highest one that rows contain. Reads a few index entries. Not record_number: ids
    -- contain the time. Of matters and audit entries, the last 1,000 count.
    create function sequence_states() returns table (sequence text, last_number bigint, highest_used bigint)
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      select 'webhook_queue_position', s.last_value - (not s.is_called)::int, greatest(
        (select max(queue_position) from {schema}.webhook_subscription),
        (
          select max(last.position)
          from generate_series(0, 63) shard
          cross join lateral (
            select q.position
            from {schema}.webhook_event_queue q
            where q.shard = shard.shard::smallint
            order by q.position desc
            limit 1
          ) last
        ),
        0
      )
      from {schema}.webhook_queue_position s
      union all
      select 'webhook_worker_id_seq', s.last_value - (not s.is_called)::int,
        coalesce((select max(id) from {schema}.webhook_worker), 0)
      from {schema}.webhook_worker_id_seq s
      union all
      select 'matter_number', s.last_value - (not s.is_called)::int, coalesce((
        select max(substring(reference from '\d+$')::bigint)
        from (select reference from {schema}.matter order by id desc limit 1000) newest
      ), 0)
      from {schema}.matter_number s
      union all
      select 'audit_entry_number', s.last_value - (not s.is_called)::int, coalesce((
        select max(number) from (select number from {schema}.audit_entry order by at desc, number desc limit 1000) newest
      ), 0)
      from {schema}.audit_entry_number s
    $$;

    -- Advances each sequence to the highest number that rows contain. Entries of the queue with numbers of the old sequence get
    -- new ones in their order: subscriptions with a higher position would ignore them.
    create function advance_sequences() returns table (sequence text, before bigint, after bigint)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      behind record;
      entry record;
    begin
      -- ALTER SEQUENCE waits for the transactions that have drawn numbers, and blocks others until the commit.
      for behind in select s.sequence from {schema}.sequence_states() s where s.last_number < s.highest_used loop
        execute format('alter sequence %I.%I cache 1', {schema name}, behind.sequence);
      end loop;
      for behind in select * from {schema}.sequence_states() s where s.last_number < s.highest_used loop
        if behind.sequence = 'webhook_queue_position' and exists (
          select from {schema}.webhook_worker where alive and leased_until > clock_timestamp()
        ) then
          raise exception 'A worker is running. Stop all workers, or wait until their leases have expired, and try again.';
        end if;
        perform setval(format('%I.%I', {schema name}, behind.sequence)::regclass, behind.highest_used);
        if behind.sequence = 'webhook_queue_position' then
          for entry in
            select q.shard, q.position
            from {schema}.webhook_event_queue q
            where q.position <= behind.last_number
            order by q.position
          loop
            update {schema}.webhook_event_queue q
            set position = nextval(format('%I.webhook_queue_position', {schema name})::regclass)
            where q.shard = entry.shard and q.position = entry.position;
          end loop;
        end if;
        sequence := behind.sequence;
        before := behind.last_number;
        after := behind.highest_used;
        return next;
      end loop;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema())), '{schema name}', quote_literal(current_schema()));
end
$do$;

revoke execute on function sequence_states, advance_sequences from public;
grant execute on function sequence_states to webhook_worker, operator;
grant execute on function advance_sequences to operator;
