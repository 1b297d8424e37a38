-- After a split, `deedwire-operator cell prune` deletes the rows of the accounts that are at home in other cells.
--
-- Accounts and organizations stay, with their homes: without them, an id of another cell would look unknown or at home. Audit entries
-- stay: they say what happened in this database, and refer to the accounts.

-- Partitions of the history whose first `pages` pages have no row that stays.
create table foreign_partition (
  name text primary key constraint foreign_partition_name_bounds check (octet_length(name) <= 63),
  pages bigint not null
);
alter table foreign_partition enable row level security;

do $do$
declare
  definition text;
begin
  execute replace(replace($schema$
    -- The columns that lead to an account, best first, and the table whose `id` they have, unless it is the account.
    create function account_columns() returns table (number int, column_name text, parent text)
    language sql immutable
    set search_path = pg_catalog, pg_temp
    as $$
      values (1, 'account_id', null), (2, 'subscription_id', 'webhook_subscription'), (3, 'api_client_id', 'api_client'),
        (4, 'referral_id', 'referral'), (5, 'event_id', 'webhook_event')
    $$;

    -- An expression: the cell of the account of a row `t` of a table, null if it is the own one or the account is frozen. Null for a
    -- table without accounts, and for those that stay.
    create function foreign_cell_in(of_table text) returns text
    language sql stable
    set search_path = pg_catalog, pg_temp
    as $$
      select format(
        '(select h.cell from %s{schema}.account_home h where h.account_id = %s and h.frozen_at is null '
          || 'and h.cell <> (select cell from {schema}.installation where only_row))',
        case when k.parent is not null then format('%s p cross join ', coalesce(
          -- A payload is in the partition of the day of its event.
          to_regclass(format('%I.%I', {schema name}, k.parent) || substring(of_table from '_\d{8}$')),
          to_regclass(format('%I.%I', {schema name}, k.parent))
        )) end,
        case when k.parent is null then 't.account_id' else format('p.account_id and p.id = t.%I', k.column_name) end
      )
      from pg_attribute a
      join {schema}.account_columns() k on k.column_name = a.attname
      where a.attrelid = to_regclass(format('%I.%I', {schema name}, of_table)) and not a.attisdropped
        and of_table !~ '^(account_home|audit_entry(_.*)?)$'
      order by k.number
      limit 1
    $$;

    -- The tables and partitions with rows of accounts in the order in which rows can be deleted: the queue, whose entries count as
    -- waiting, then children before parents. `needed`: a partition of a day that is over can be dropped if these have no row that stays. A
    -- row of a day is written later only for an event or a delivery of this day.
    create function foreign_tables() returns table (name text, root text, needed text[])
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      with recursive own as (
        select c.oid, c.relname::text as name, c.relkind
        from pg_class c
        where c.relnamespace = quote_ident({schema name})::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and {schema}.foreign_cell_in(c.relname) is not null
      ), parents as (
        select conrelid as child, confrelid as parent from pg_constraint where contype = 'f'
        union
        select a.attrelid, to_regclass(format('%I.%I', {schema name}, k.parent))
        from own
        join pg_attribute a on a.attrelid = own.oid and not a.attisdropped
        join {schema}.account_columns() k on k.column_name = a.attname and k.parent is not null
      ), depths as (
        select oid, 0 as depth from own
        union
        select p.parent, d.depth + 1
        from depths d
        join parents p on p.child = d.oid and p.parent <> d.oid
        where d.depth < 20
      )
      select leaf.name, own.name, case
        when substring(leaf.name from '_(\d{8})$') < to_char((clock_timestamp() at time zone 'UTC') - interval '1 day', 'YYYYMMDD')
        then array(
          select distinct n
          from unnest(array[leaf.name, 'webhook_event' || right(leaf.name, 9), 'webhook_delivery' || right(leaf.name, 9)]) n
          where to_regclass(format('%I.%I', {schema name}, n)) is not null
          order by n
        )
      end
      from own
      join (select oid, max(depth) as depth from depths group by oid) d using (oid)
      cross join lateral (
        select own.name where own.relkind = 'r'
        union all
        select c.relname::text
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = own.oid and not i.inhdetachpending and pg_relation_size(c.oid) > 0
      ) leaf
      order by own.name <> 'webhook_event_queue', d.depth, own.name, leaf.name
    $$;

    -- Estimates the size of the rows of accounts of other cells, from some pages of each table. The cell is null for the other rows.
    create function foreign_bytes() returns table (cell smallint, root text, bytes bigint)
    language plpgsql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      part record;
      leaf text;
    begin
      if not exists (
        select from {schema}.account_home h where h.frozen_at is null and h.cell <> (select i.cell from {schema}.installation i where i.only_row)
      ) then
        return;
      end if;
      for part in select t.name, t.root from {schema}.foreign_tables() t loop
        leaf := format('%I.%I', {schema name}, part.name);
        begin
          continue when pg_relation_size(leaf::regclass) = 0;
          return query execute format(
            'select cell, %1$L, (rows / sum(rows) over () * pg_total_relation_size(%2$L))::bigint
             from (
               select %3$s as cell, count(*) as rows
               from %2$s t tablesample system (least(100, %4$s * 100.0 * current_setting(''block_size'')::int / pg_relation_size(%2$L)))
                 repeatable (0)
               group by 1
             ) sampled',
            part.root, leaf, {schema}.foreign_cell_in(part.name), case when part.name = part.root then 64 else 8 end);
        exception when undefined_table then
          -- The worker has dropped it.
        end;
      end loop;
    end
    $$;

    -- Until a split has ended, it can be undone.
    create function refuse_open_split() returns void
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      if exists (select from {schema}.cell_split where activated_at is null and aborted_at is null) then
        raise exception 'A split is open. Finish it, or run `cell split abort`.' using errcode = 'object_not_in_prerequisite_state';
      end if;
    end
    $$;

    -- Deletes the rows of accounts of other cells in some pages of a table. Returns how many, the number of pages of the table, and the
    -- rows that stay because rows that stay refer to them. Null if the table has none, or the worker has dropped it.
    create function delete_foreign_rows(of_table text, from_page bigint, page_count int) returns jsonb
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      pages_max constant int := 1000;
      leaf constant text := format('%I.%I', {schema name}, of_table);
      cell_of constant text := {schema}.foreign_cell_in(of_table);
      rows_there text;
      one tid;
      referring text;
      name_of_row text;
      deleted bigint := 0;
      kept text[] := '{}';
    begin
      perform {schema}.refuse_open_split();
      if cell_of is null then
        return null;
      end if;
      -- For check_home(). Only a superuser could set it for the function.
      perform set_config('deedwire.pruning', 'on', true);
      rows_there := format('%s t where t.ctid >= ''(%s,0)'' and t.ctid < ''(%s,0)'' and %s is not null',
        leaf, from_page, from_page + least(page_count, pages_max), cell_of);
      begin
        execute 'delete from ' || rows_there;
        get diagnostics deleted = row_count;
      exception when foreign_key_violation then
        for one in execute 'select t.ctid from ' || rows_there loop
          begin
            execute format('delete from %s where ctid = $1', leaf) using one;
            deleted := deleted + 1;
          exception when foreign_key_violation then
            get stacked diagnostics referring = table_name;
            execute format(
              'select string_agg(to_jsonb(t) ->> a.attname, '' '' order by a.attnum)
               from %s t, pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
               where t.ctid = $1 and i.indrelid = %L::regclass and i.indisprimary', leaf, leaf)
            into name_of_row using one;
            kept := kept || format('%s %s, because of %s', of_table, name_of_row, referring);
          end;
        end loop;
      end;
      perform set_config('deedwire.pruning', '', true);
      return jsonb_build_object('deleted', deleted, 'kept', kept,
        'pages', pg_relation_size(leaf::regclass) / current_setting('block_size')::int);
    exception when undefined_table then
      return null;
    end
    $$;

    -- Looks for rows that stay in the next pages of a partition. Returns false if there is one or the worker has dropped it, true if there
    -- is none in the whole partition, and null if further pages are left.
    create function check_foreign_partition(of_table text, page_count int) returns boolean
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      pages_max constant int := 1000;
      leaf constant text := format('%I.%I', {schema name}, of_table);
      cell_of constant text := {schema}.foreign_cell_in(of_table);
      checked bigint;
      next_page bigint;
      stays boolean;
    begin
      perform {schema}.refuse_open_split();
      if cell_of is null then
        return false;
      end if;
      insert into {schema}.foreign_partition as p (name, pages) values (of_table, 0)
      on conflict (name) do update set pages = p.pages
      returning pages into checked;
      next_page := checked + least(page_count, pages_max);
      execute format('select exists (select from %s t where t.ctid >= ''(%s,0)'' and t.ctid < ''(%s,0)'' and %s is null)',
        leaf, greatest(0, checked - 1), next_page, cell_of)
      into stays;
      if stays then
        delete from {schema}.foreign_partition where name = of_table;
        return false;
      end if;
      checked := least(next_page, pg_relation_size(leaf::regclass) / current_setting('block_size')::int);
      update {schema}.foreign_partition set pages = checked where name = of_table;
      return case when checked < next_page then true end;
    exception when undefined_table then
      return false;
    end
    $$;

    -- Drops a partition that has no row that stays. Returns whether it did. As for webhook_drop_partition(), others wait while this
    -- waits.
    create function drop_foreign_partition(of_table text) returns boolean
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '25ms'
    as $$
    declare
      part record;
      checked bigint;
      source text;
      stays boolean;
    begin
      perform {schema}.refuse_open_split();
      select * into part from {schema}.foreign_tables() where name = of_table and needed is not null;
      if not found then
        return false;
      end if;
      execute format('lock table only %I.%I in access exclusive mode', {schema name}, part.root);
      foreach source in array part.needed loop
        select pages into checked from {schema}.foreign_partition where name = source;
        -- What was written since is at the end: nothing is updated there.
        execute format('select $1 is null or exists (select from %I.%I t where t.ctid >= $2 and %s is null)',
          {schema name}, source, {schema}.foreign_cell_in(source))
        into stays using checked, format('(%s,0)', greatest(0, checked - 1))::tid;
        if stays then
          return false;
        end if;
      end loop;
      execute format('drop table %I.%I', {schema name}, of_table);
      delete from {schema}.foreign_partition where to_regclass(format('%I.%I', {schema name}, name)) is null;
      return true;
    exception when undefined_table then
      return false;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema())), '{schema name}', quote_literal(current_schema()));

  -- Pruning deletes rows of accounts that are away, for which no app needs an answer.
  definition := pg_get_functiondef('check_home'::regproc);
  if strpos(definition, 'perform') = 0 then
    raise exception 'The function check_home is not that of an earlier migration.';
  end if;
  execute replace(definition, format('perform %I.check_homes(array[account]);', current_schema()), format(
    $$if tg_op = 'DELETE' and current_setting('deedwire.pruning', true) = 'on'
        and exists (select from %1$I.account_away a where a.account_id = account and not a.is_frozen) then
        return changed;
      end if;
      perform %1$I.check_homes(array[account]);$$, current_schema()));
end
$do$;

revoke execute on function account_columns, foreign_cell_in, foreign_tables, foreign_bytes, refuse_open_split, delete_foreign_rows,
  check_foreign_partition, drop_foreign_partition from public;
grant execute on function foreign_tables, foreign_bytes, delete_foreign_rows, check_foreign_partition, drop_foreign_partition to operator;
