-- No app may create an object or own one. Functions of the owner do what only an owner may do: they create and drop partitions.
--
-- A function that runs with the rights of its owner must resolve no name through a schema that others may write to. So its
-- search_path is `pg_catalog, pg_temp`, and it qualifies every other name with the schema that it is created in. The functions
-- that it calls, such as new_record_id(), do the same.

do $do$
declare
  own installation;
begin
  select * into own from installation;
  execute format($format$
    create or replace function new_record_id() returns bigint
    language plpgsql volatile parallel unsafe
    as $function$
    declare
      ms bigint;
      number bigint;
    begin
      for attempt in 1..8 loop
        ms := floor(date_part('epoch', clock_timestamp()) * 1000)::bigint - 1767225600000;
        number := nextval(%L::regclass);
        exit when ms = floor(date_part('epoch', clock_timestamp()) * 1000)::bigint - 1767225600000;
      end loop;
      if ms not between 1 and 2199023255551 then
        raise exception 'The clock of the database server is at %%. Record ids need a time from 2026 to 2095.',
          clock_timestamp();
      end if;
      return (ms << 22) | %s | ((number + (hashint8extended(ms, %L::bigint) & 4095)) & 4095);
    end
    $function$
  $format$, format('%I.record_number', current_schema()), own.cell::bigint << 12, own.id_seed);
end
$do$;

do $do$
begin
  execute replace(replace($schema$
    create or replace function delete_expired_idempotency_keys(batch int) returns bigint
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      with expired as (
        select account_id, mutation, key
        from {schema}.idempotency_key
        where created_at < now() - interval '24 hours'
        order by created_at
        limit batch
        for update skip locked
      ), deleted as (
        delete from {schema}.idempotency_key k
        using expired e
        where k.account_id = e.account_id and k.mutation = e.mutation and k.key = e.key
        returning 1
      )
      select count(*) from deleted
    $$;

    create or replace function create_cost_bucket() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      insert into {schema}.cost_bucket (api_client_id, interface, points) values (new.id, new.interface, new.cost_maximum)
      -- A restored dump can contain the bucket already.
      on conflict (api_client_id) do nothing;
      return null;
    end
    $$;

    -- Creates the partitions of this month and the next two, and deletes entries that are older than `keep_days`, by dropping
    -- their partitions. The minimum keeps a compromised login from deleting its traces.
    --
    -- Both changes lock the table for a moment. The lock timeout keeps a long transaction from blocking all writers behind
    -- them; the next call tries again.
    create or replace function maintain_audit_log(keep_days int) returns table (created text, dropped text)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set timezone = 'UTC'
    set lock_timeout = '1s'
    as $$
    declare
      keep_days_min constant int := 90;
      month timestamptz;
      partition_name text;
    begin
      if keep_days is null or keep_days < keep_days_min then
        raise exception 'The audit log keeps entries for at least % days, not %.', keep_days_min, keep_days;
      end if;
      -- One session at a time. No app has a right to this table, so no app can take this lock.
      begin
        lock table {schema}.audit_entry_default in share update exclusive mode nowait;
      exception when lock_not_available then
        return;
      end;

      for month in
        select generate_series(date_trunc('month', now()), date_trunc('month', now()) + interval '2 months', interval '1 month')
      loop
        partition_name := 'audit_entry_' || to_char(month, 'YYYY_MM');
        continue when to_regclass(format('%I.%I', {schema name}, partition_name)) is not null;
        -- PostgreSQL rejects a partition whose rows are in the default partition. That month stays there.
        continue when exists (
          select from {schema}.audit_entry_default where at >= month and at < month + interval '1 month'
        );
        execute format(
          'create table %1$I.%2$I partition of %1$I.audit_entry for values from (%3$L) to (%4$L)',
          {schema name}, partition_name, month, month + interval '1 month'
        );
        created := partition_name;
        dropped := null;
        return next;
      end loop;

      for partition_name in
        select c.relname
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = format('%I.audit_entry', {schema name})::regclass
          and c.relname ~ '^audit_entry_\d{4}_\d{2}$'
          and to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' < now() - make_interval(days => keep_days)
        order by c.relname
      loop
        execute format('drop table %I.%I', {schema name}, partition_name);
        created := null;
        dropped := partition_name;
        return next;
      end loop;

      delete from {schema}.audit_entry_default where at < now() - make_interval(days => keep_days);
    end
    $$;

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
      foreach parent in array array['webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_attempt'] loop
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

    -- The partitions of the history that are no longer needed, in the order in which they are dropped: first those that an
    -- interrupted detach has left, because a table can have only one of them, then the oldest; deliveries before attempts,
    -- because a late success is recorded only if its delivery exists.
    --
    -- A day of deliveries expires `retention_days` after it, and not before webhook_retention says so. Its deliveries and
    -- attempts stay for 7 more days. Events and payloads stay for one more day, because an event is fanned out after its id
    -- was drawn.
    create function webhook_due_partitions(retention_days int) returns table (parent text, name text, state text)
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      retention_days_min constant int := 1;
      expired date;
    begin
      if retention_days is null or retention_days < retention_days_min then
        raise exception 'The webhook history is kept for at least % day, not %.', retention_days_min, retention_days;
      end if;
      select least(
        (clock_timestamp() at time zone 'UTC')::date - retention_days,
        date '2026-01-01' + ((expired_before >> 22) / 86400000)::int
      ) into expired from {schema}.webhook_retention;
      return query
        select kept.parent, c.relname::text,
          case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'detaching' else 'attached' end
        from (
          values (1, 'webhook_event', 1), (2, 'webhook_payload', 1), (3, 'webhook_delivery', 7), (4, 'webhook_attempt', 7)
        ) as kept (position, parent, days)
        join pg_class c on c.relname ~ ('^' || kept.parent || '_\d{8}$')
        left join pg_inherits i on i.inhrelid = c.oid
        where c.relnamespace = quote_ident({schema name})::regnamespace and c.relkind = 'r'
          and right(c.relname::text, 8) < to_char(expired - kept.days, 'YYYYMMDD')
        order by coalesce(i.inhdetachpending, false) desc, right(c.relname::text, 8), kept.position;
    end
    $$;

    -- Drops the first partition of the list above, and returns its name, or null if the list is empty. While this function
    -- waits for its locks, all that use the table wait behind it. So the lock timeout is short, and the caller tries again.
    --
    -- An attached partition is dropped as it is. Detached, it would have a foreign key of its own, and dropping that one locks
    -- the accounts. Workers of earlier releases detached concurrently, which a function cannot do. It finishes what they left.
    create function webhook_drop_partition(retention_days int) returns text
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '100ms'
    as $$
    declare
      due record;
    begin
      select * into due from {schema}.webhook_due_partitions(retention_days) limit 1;
      if not found then
        return null;
      end if;
      if due.state <> 'detached' then
        execute format('lock table only %I.%I in access exclusive mode', {schema name}, due.parent);
      end if;
      if due.state = 'detaching' then
        execute format('alter table %1$I.%2$I detach partition %1$I.%3$I finalize', {schema name}, due.parent, due.name);
      end if;
      execute format('drop table %I.%I', {schema name}, due.name);
      return due.name;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema())), '{schema name}', quote_literal(current_schema()));
end
$do$;

revoke execute on procedure webhook_create_partitions from public;
revoke execute on function webhook_due_partitions, webhook_drop_partition from public;
grant execute on procedure webhook_create_partitions to webhook_worker;
grant execute on function webhook_due_partitions, webhook_drop_partition to webhook_worker;

do $$
begin
  execute format('revoke create on schema %I from webhook_worker', current_schema());
end
$$;

-- The tables of the history go back to the owner of the others. The parents are locked first, in the order in which
-- webhook_create_partitions locks them: it cannot attach a partition meanwhile, and one that is not attached yet fails,
-- because the parent then belongs to another role. All these locks come last, so that they are held for a short time.
--
-- As owner, a login of the worker could change what is now the owner's. Rights and policies are set again. Triggers and rules
-- would run with the rights of others, and are for a person to look at. `migrate` has refused functions.
do $$
declare
  apps constant text[] := array['lender_api', 'partner_api', 'webhook_worker', 'operator'];
  history constant text := '^webhook_(event|payload|delivery|attempt)(_\d{8})?$';
  owner regrole := (select relowner from pg_class where oid = 'account'::regclass);
  found record;
  left_behind text;
begin
  lock table only webhook_event, only webhook_payload, only webhook_delivery, only webhook_attempt in access exclusive mode;
  for found in
    select c.oid::regclass as table_name
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and c.relname ~ history
  loop
    execute format('alter table %s owner to %s', found.table_name, owner);
  end loop;

  for found in
    select distinct c.oid::regclass as table_name,
      case when grantee = 0 then 'public' else grantee::regrole::text end as grantee
    from pg_class c
    cross join lateral (
      select a.grantee from aclexplode(c.relacl) a
      union
      select a.grantee from pg_attribute t, aclexplode(t.attacl) a where t.attrelid = c.oid
    ) as granted
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and c.relname ~ history
      and grantee <> owner
      and (grantee = 0 or exists (select from unnest(apps) as app where pg_has_role(grantee, app, 'member')))
  loop
    execute format('revoke all on %s from %s', found.table_name, found.grantee);
  end loop;
  for found in
    select c.oid::regclass as table_name, polname from pg_policy join pg_class c on c.oid = polrelid
    where c.relnamespace = current_schema()::regnamespace and c.relname ~ history
  loop
    execute format('drop policy %I on %s', found.polname, found.table_name);
  end loop;

  select string_agg(object, ', ') into left_behind
  from (
    select pg_describe_object(t.tableoid, t.oid, 0)
    from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = current_schema()::regnamespace and c.relname ~ history and not t.tgisinternal
    union all
    select pg_describe_object(w.tableoid, w.oid, 0)
    from pg_rewrite w
    join pg_class c on c.oid = w.ev_class
    where c.relnamespace = current_schema()::regnamespace and c.relname ~ history
  ) as suspect (object);
  if left_behind is not null then
    raise exception 'A login of an app has created: %. No release of an app creates any of them. Find out who did, drop them, '
      'and run the migration again.', left_behind;
  end if;
end
$$;

do $$
declare
  table_name text;
begin
  foreach table_name in array array['webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_attempt'] loop
    execute format('alter table %I enable row level security', table_name);
    execute format('create policy lender_api on %I to lender_api using (interface = ''lender'')', table_name);
    execute format('create policy partner_api on %I to partner_api using (interface = ''partner'')', table_name);
    execute format('create policy operator on %I to operator using (true)', table_name);
    execute format('create policy webhook_worker_select on %I for select to webhook_worker using (true)', table_name);
    execute format('create policy webhook_worker_insert on %I for insert to webhook_worker with check (true)', table_name);
  end loop;
end
$$;

grant insert on webhook_event to lender_api, partner_api, operator;
grant select on webhook_event, webhook_delivery, webhook_attempt to lender_api, partner_api, operator;
grant select, insert on webhook_event, webhook_payload, webhook_delivery, webhook_attempt to webhook_worker;

-- The worker locks deliveries while it records late results. A lock needs the right to update a column; the policy lets no
-- update through.
grant update (sequence) on webhook_delivery to webhook_worker;
create policy webhook_worker_lock on webhook_delivery for update to webhook_worker using (true) with check (false);
