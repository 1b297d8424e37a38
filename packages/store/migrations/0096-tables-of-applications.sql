-- own_table() makes a table of the application one whose rows belong to an account. The functions that guard homes, find the rows that
-- another cell has, and compare sequences with rows ask what it has registered, and no longer name tables of the sample.

-- No app has a right on these tables.
create table own_table (
  relation text primary key,
  of_interface interface_name not null references interface,
  -- The table to whose `id` the column leads. Null: `account`.
  parent text references own_table,
  column_name text not null
);
create table own_sequence (
  sequence text primary key,
  -- The rows with its numbers: at the end of the column.
  relation text not null references own_table,
  column_name text not null
);

do $do$
declare
  change record;
  definition text;
  place constant text := quote_ident(current_schema());
begin
  execute replace(replace($schema$
    -- An expression for the account of a row of a table that own_table() has registered. Null for another table.
    create function account_of_own(of_table text, row_name text) returns text
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      own {schema}.own_table;
    begin
      select * into own from {schema}.own_table o where o.relation = of_table;
      if own.parent is null then
        return row_name || '.' || quote_ident(own.column_name);
      end if;
      return format('(select %s from {schema}.%I %s where %3$s.id = %4$s.%5$I)',
        {schema}.account_of_own(own.parent, row_name || 'p'), own.parent, row_name || 'p', row_name, own.column_name);
    end
    $$;

    create function own_sequence_states() returns table (sequence text, last_number bigint, highest_used bigint)
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      own {schema}.own_sequence;
    begin
      for own in select * from {schema}.own_sequence loop
        return query execute format(
          $query$
            select %L, s.last_value - (not s.is_called)::int, coalesce((
              select max(substring(newest.used from '\d+$')::bigint)
              from (select %I as used from {schema}.%I order by id desc limit 1000) newest
            ), 0)
            from {schema}.%I s
          $query$, own.sequence, own.column_name, own.relation, own.sequence);
      end loop;
    end
    $$;

    -- Makes the rows of a table those of accounts of an interface: foreign key, row-level security, grants to its role, and the check of
    -- the account's home. Registers it for what deletes the rows of other cells, and for sequences. The table has an `id` that
    -- new_record_id() draws, and `account_id` and `interface`, or a column `<table>_id` that leads to a registered table. Only the owner
    -- can call it, also again.
    create function own_table(relation text, interface {schema}.interface_name, grants text, parent_column text default null)
    returns void
    language plpgsql
    set search_path = {schema}, pg_temp
    set client_min_messages = warning
    as $$
    declare
      own_role constant text := role_of_interface(interface);
      own_oid constant regclass := quote_ident(relation)::regclass;
      parent_table constant text := regexp_replace(parent_column, '_id$', '');
      leads constant text := coalesce(parent_column, 'account_id');
      -- The columns of the foreign key.
      key smallint[];
      app record;
    begin
      if not exists (
        select
        from pg_constraint c
        join pg_attribute a on a.attrelid = c.conrelid and c.conkey = array[a.attnum] and a.attname = 'id'
        join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where c.conrelid = own_oid and c.contype = 'p' and c.conname = own_table.relation || '_pkey'
          and pg_get_expr(d.adbin, d.adrelid) ~ 'new_record_id\(\)$'
      ) then
        raise exception 'The table % needs the primary key: id bigint primary key default new_record_id().', relation;
      end if;
      if parent_column is not null and not exists (
        select from own_table o where o.relation = parent_table and o.of_interface = interface
      ) then
        raise exception 'The column % of the table % does not lead to a table that own_table() has registered for the interface %.',
          parent_column, relation, interface;
      end if;
      key := array(
        select attnum
        from pg_attribute
        where attrelid = own_oid and not attisdropped
          and attname = any (case when parent_column is null then '{account_id,interface}' else array[parent_column] end)
        order by attname
      );
      if cardinality(key) < (case when parent_column is null then 2 else 1 end) then
        raise exception 'The table % needs the column %.', relation, coalesce(parent_column, 'account_id and interface');
      end if;
      if not exists (
        select from pg_constraint c
        where c.conrelid = own_oid and c.contype = 'f' and c.conkey = key
          and c.confrelid = quote_ident(coalesce(parent_table, 'account'))::regclass
      ) then
        if parent_column is null then
          execute format('alter table %I add foreign key (account_id, interface) references account (id, interface)', relation);
        else
          execute format('alter table %I add foreign key (%I) references %I', relation, parent_column, parent_table);
        end if;
      end if;
      if parent_column is null and not exists (
        select from pg_constraint c
        where c.conrelid = own_oid and c.contype = 'c'
          and pg_get_constraintdef(c.oid) = format('CHECK ((interface = %L::interface_name))', interface)
      ) then
        execute format('alter table %I add check (interface = %L)', relation, interface);
      end if;

      insert into own_table as o values (relation, interface, parent_table, leads)
      on conflict on constraint own_table_pkey do update
      set of_interface = excluded.of_interface, parent = excluded.parent, column_name = excluded.column_name;

      -- A child has the interface of its parent.
      for app in
        select r.role, case when r.role = own_role and parent_column is null then format('interface = %L', interface) else 'true' end as rows
        from (values (own_role), (role_name('operator-cli'))) as r (role)
        where to_regrole(quote_ident(r.role)) is not null
          and not exists (select from pg_policy p where p.polrelid = own_oid and p.polname = r.role)
      loop
        execute format('create policy %1$I on %2$I to %1$I using (%3$s)', app.role, relation, app.rows);
      end loop;
      if to_regrole(quote_ident(own_role)) is not null and grants <> '' then
        execute format('grant %s on %I to %I', grants, relation, own_role);
      end if;
      execute format('alter table %I enable row level security', relation);
      execute format('create or replace trigger check_home before insert or update on %I
        for each row when (current_setting(''deedwire.homes'', true) is distinct from ''*'') execute function check_home(%L)', relation, leads);
      execute format('create or replace trigger check_home_of_deleted before delete on %I
        for each row when (current_setting(''deedwire.homes'', true) is distinct from ''*'') execute function check_home(%L)', relation, leads);
    end
    $$;

    -- Registers a sequence whose numbers are at the end of a column of a table that own_table() has registered: after a restore, it
    -- continues after them.
    create function own_sequence(sequence text, relation text, column_name text) returns void
    language sql
    set search_path = {schema}, pg_temp
    as $$
      insert into own_sequence values (sequence, relation, column_name)
      on conflict on constraint own_sequence_pkey do update set relation = excluded.relation, column_name = excluded.column_name
    $$;

    -- As before, and of the tables that own_table() has registered.
    create or replace function foreign_cell_in(of_table text) returns text
    language sql stable
    set search_path = pg_catalog, pg_temp
    as $$
      select format(
        '(select h.cell from %s{schema}.account_home h where h.account_id = %s and h.frozen_at is null '
          || 'and h.cell <> (select cell from {schema}.installation where only_row))',
        case when k.parent is not null then format('%s p cross join ', coalesce(
          -- A payload is in the partition of the day of its event.
          to_regclass(format('%I.%I', {schema_text}, k.parent) || substring(of_table from '_\d{8}$')),
          to_regclass(format('%I.%I', {schema_text}, k.parent))
        )) end,
        case when k.parent is null then k.account else format('p.account_id and p.id = t.%I', k.column_name) end
      )
      from (
        select 0 as number, null as parent, null as column_name, {schema}.account_of_own(o.relation, 't') as account
        from {schema}.own_table o
        where o.relation = of_table
        union all
        select k.number, k.parent, k.column_name, 't.account_id'
        from pg_attribute a
        join {schema}.account_columns() k on k.column_name = a.attname
        where a.attrelid = to_regclass(format('%I.%I', {schema_text}, of_table)) and not a.attisdropped
          and of_table !~ '^(account_home|audit_entry(_.*)?)$'
      ) k
      order by k.number
      limit 1
    $$;
  $schema$, '{schema}', place), '{schema_text}', quote_literal(current_schema()));

  for change in
    select *
    from (values
      ('check_home', 'account bigint;', $$account bigint;
      account_query text;$$),
      ('check_home', $$when 'referral_id' then select account_id into account from {schema}.referral where id = changed.referral_id;
        $$, ''),
      ('check_home', $$where id = changed.subscription_id;$$, $$where id = changed.subscription_id;
        else
          select format('select %s from {schema}.%I p where p.id = $1', {schema}.account_of_own(o.parent, 'p'), o.parent) into account_query
          from {schema}.own_table o
          where o.relation = tg_table_name;
          execute account_query into account using (to_jsonb(changed) ->> tg_argv[0])::bigint;$$),
      ('account_columns', $$,
        (4, 'referral_id', 'referral'), (5, 'event_id', 'webhook_event')$$, $$,
        (4, 'event_id', 'webhook_event')$$),
      ('sequence_states', $$select 'matter_number', s.last_value - (not s.is_called)::int, coalesce((
        select max(substring(reference from '\d+$')::bigint)
        from (select reference from {schema}.matter order by id desc limit 1000) newest
      ), 0)
      from {schema}.matter_number s$$, 'select * from {schema}.own_sequence_states()')
    ) as changes (function_name, old_text, new_text)
  loop
    definition := pg_get_functiondef(to_regproc(change.function_name));
    change.old_text := replace(change.old_text, '{schema}', place);
    if cardinality(string_to_array(definition, change.old_text)) <> 2 then
      raise exception 'The function % is not that of an earlier migration.', change.function_name;
    end if;
    execute replace(definition, change.old_text, replace(change.new_text, '{schema}', place));
  end loop;
end
$do$;

revoke execute on function account_of_own, own_sequence_states, own_table, own_sequence from public;

-- Late, because the apps wait for these locks.
select own_table('team_member', 'lender', 'select');
select own_table('referral', 'partner', 'select, insert');
select own_table('matter', 'partner', 'select', 'referral_id');
select own_sequence('matter_number', 'matter', 'reference');
