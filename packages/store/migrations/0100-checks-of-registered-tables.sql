-- own_table(), own_sequence() and add_interface() refuse what would fail, or be unguarded, later. check_home() finds the account of a child of
-- a table of an application whatever its column is called, and sees both accounts of a row that moves. One function decides which columns an
-- erasure can replace.

do $do$
declare
  app text;
begin
  execute replace(replace($schema$
    -- The trigger of every table that a change of an account writes. Its argument is the column that leads to the account. For a child of a
    -- table of an application, it is empty, and the second argument is the name that own_table() has registered.
    create or replace function check_home() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      changed constant record := case when tg_op = 'DELETE' then old else new end;
      account bigint;
      -- That a row is taken from.
      former bigint;
      own_column text;
      account_query text;
    begin
      case tg_argv[0]
        when 'id' then account := changed.id;
        when 'account_id' then
          account := changed.account_id;
          if tg_op = 'UPDATE' and old.account_id <> account then
            perform {schema}.check_homes(array[old.account_id]);
          end if;
        when 'api_client_id' then select account_id into account from {schema}.api_client where id = changed.api_client_id;
        when 'subscription_id' then select account_id into account from {schema}.webhook_subscription where id = changed.subscription_id;
        else
          -- A parent of another interface looks like none.
          select o.column_name, format(
            'select p.id from (select %s as id from {schema}.%I p where p.id = $1) p where {schema}.session_sees_account(p.id)',
            {schema}.account_of_own(o.parent, 'p'), o.parent)
          into own_column, account_query
          from {schema}.own_table o
          where o.relation = tg_argv[1] and to_regclass(format('%I.%I', {schema_text}, o.parent)) is not null;
          if account_query is null then
            raise exception 'The table % or that of its parent was renamed or dropped. Call own_table() for both in a migration.', tg_table_name;
          end if;
          execute account_query into account using (to_jsonb(changed) ->> own_column)::bigint;
          if tg_op = 'UPDATE' and to_jsonb(old) -> own_column <> to_jsonb(new) -> own_column then
            execute account_query into former using (to_jsonb(old) ->> own_column)::bigint;
            perform {schema}.check_homes(array[former]);
          end if;
      end case;
      if account is null then
        -- It is deleted with its parent, or one statement inserts both, as a foreign key of ours ensures. The parent is checked.
        if tg_op = 'DELETE' or tg_argv[0] = any ('{api_client_id,subscription_id}') then
          return changed;
        end if;
        raise exception using
          errcode = 'foreign_key_violation',
          message = format('A row of the table %s leads to no account that this login may change.', tg_table_name);
      end if;
      if strpos(current_setting('deedwire.homes', true), concat(',', account, ',')) > 0 then
        return changed;
      end if;
      if tg_op = 'DELETE' and current_setting('deedwire.pruning', true) = 'on'
        and exists (select from {schema}.account_away a where a.account_id = account and not a.is_frozen) then
        return changed;
      end if;
      perform {schema}.check_homes(array[account]);
      return changed;
    end
    $$;

    -- Lets check_home() see what is written to a table that own_table() has registered.
    create function guard_own_table(of_table text) returns void
    language plpgsql
    set search_path = {schema}, pg_temp
    set client_min_messages = warning
    as $$
    declare
      guard record;
    begin
      for guard in
        select g.name, g.events, case when o.parent is null then o.column_name else '' end as leads
        from own_table o, (values ('check_home', 'insert or update'), ('check_home_of_deleted', 'delete')) as g (name, events)
        where o.relation = of_table
      loop
        execute format('create or replace trigger %I before %s on %I
          for each row when (current_setting(''deedwire.homes'', true) is distinct from ''*'') execute function check_home(%L, %L)',
          guard.name, guard.events, of_table, guard.leads, of_table);
      end loop;
    end
    $$;

    -- Makes the rows of a table those of accounts of an interface: foreign key, row-level security, exactly these grants to its role, and the
    -- check of the account's home. Registers it for what deletes the rows of other cells, and for sequences. The table has an `id` that
    -- new_record_id() draws, and `account_id` and `interface`, or a column that leads to a registered table: by its foreign key, or as
    -- `<table>_id`. Only the owner can call it, also again, and after the table was renamed.
    create or replace function own_table(relation text, interface {schema}.interface_name, grants text, parent_column text default null)
    returns void
    language plpgsql
    set search_path = {schema}, pg_temp
    set client_min_messages = warning
    as $$
    declare
      own_role constant text := role_of_interface(interface);
      own pg_class;
      kind text;
      owner oid;
      key_name text;
      known own_table;
      -- The name of the registration of a table that was renamed.
      former text;
      parent_table text;
      -- The columns of the foreign key.
      key smallint[];
      needed record;
      other record;
      app record;
    begin
      select c.* into own from pg_class c where c.relnamespace = quote_ident({schema_text})::regnamespace and c.relname = own_table.relation;
      if not found then
        raise exception 'There is no table % in the schema %.', relation, {schema_text};
      end if;
      kind := case
        when own.relkind = 'p' then 'is partitioned'
        when own.relispartition then 'is a partition'
        when own.relkind <> 'r' then 'is no table'
        when exists (select from pg_inherits where own.oid in (inhparent, inhrelid)) then 'inherits, or is inherited from'
      end;
      if kind is not null then
        raise exception 'own_table() takes an ordinary table, and % %. Create one, and move the rows.', relation, kind;
      end if;
      if exists (select from shared_policy s where s.relation = own_table.relation) then
        raise exception 'The table % is one of the platform. Create another one.', relation;
      end if;
      if relation ~ '_\d{8}$' then
        raise exception 'The name of the table % ends with 8 digits, like that of a partition of a day, which is dropped. Rename it.', relation;
      end if;
      owner := (select c.relowner from pg_class c where c.oid = '{schema}.own_table'::regclass);
      if own.relowner <> owner then
        raise exception 'The table % has another owner than the tables of the platform; run: alter table % owner to %',
          relation, own.oid::regclass, owner::regrole;
      end if;
      if not exists (select from interface i where i.name = own_table.interface) then
        raise exception 'The table % needs the interface %; call add_interface() first.', relation, interface;
      end if;
      if grants is null or grants !~* '^(\s*(select|insert|update|delete)\s*(\([^()]+\)\s*)?(,(?=\s*\w)|$))*$' then
        raise exception 'The grants on the table % are "%", but must be some of select, insert, update and delete, or empty.', relation, grants;
      end if;

      select c.conname into key_name
      from pg_constraint c
      join pg_attribute a on a.attrelid = c.conrelid and c.conkey = array[a.attnum] and a.attname = 'id' and a.atttypid = 'bigint'::regtype
      join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where c.conrelid = own.oid and c.contype = 'p' and pg_get_expr(d.adbin, d.adrelid) = 'new_record_id()';
      if key_name is null then
        raise exception 'The table % needs the primary key: id bigint primary key default new_record_id().', relation;
      end if;
      if key_name <> relation || '_pkey' then
        raise exception 'The primary key of the table % has the name %; run: alter table % rename constraint % to %',
          relation, key_name, own.oid::regclass, quote_ident(key_name), quote_ident(relation || '_pkey');
      end if;

      for needed in
        select n.name, n.type, case when a.attname is not null then concat_ws(' ', format_type(a.atttypid, a.atttypmod),
          case when a.attnotnull then 'not null' end, case when a.attgenerated <> '' then 'generated' end) end as found
        from (
          select 'account_id' as name, 'bigint' as type where parent_column is null
          union all
          select 'interface', 'interface_name' where parent_column is null
          union all
          select parent_column, 'bigint' where parent_column is not null
        ) n
        left join pg_attribute a on a.attrelid = own.oid and a.attname = n.name and a.attnum > 0 and not a.attisdropped
      loop
        if needed.found is distinct from needed.type || ' not null' then
          raise exception 'The table % needs the column: % % not null. It has %.', relation, needed.name, needed.type,
            coalesce(quote_ident(needed.name) || ' ' || needed.found, 'none of this name');
        end if;
      end loop;
      key := array(
        select a.attnum
        from pg_attribute a
        where a.attrelid = own.oid and not a.attisdropped
          and a.attname = any (case when parent_column is null then '{account_id,interface}' else array[parent_column] end)
        order by a.attname
      );

      if parent_column is not null then
        -- By the foreign key first.
        select o.relation into parent_table
        from own_table o
        where o.of_interface = own_table.interface and to_regclass(quote_ident(o.relation)) is not null and (
          o.relation = regexp_replace(parent_column, '_id$', '') or exists (
            select
            from pg_constraint c
            where c.conrelid = own.oid and c.contype = 'f' and c.conkey = key and c.confrelid = to_regclass(quote_ident(o.relation))
          )
        )
        order by o.relation = regexp_replace(parent_column, '_id$', '')
        limit 1;
        if parent_table is null then
          raise exception 'The column % of the table % does not lead to a table that own_table() has registered for the interface %.',
            parent_column, relation, interface;
        end if;
        if exists (
          with recursive up as (
            select o.relation, o.parent from own_table o where o.relation = parent_table
            union
            select o.relation, o.parent from up join own_table o on o.relation = up.parent
          )
          select from up where up.relation = own_table.relation
        ) then
          raise exception 'The column % of the table % leads to this table itself. Name a column that leads to its parent, or none.',
            parent_column, relation;
        end if;
      end if;

      select o.relation into former
      from own_table o
      join pg_trigger t on t.tgrelid = own.oid and t.tgname = 'check_home'
        and t.tgargs = convert_to(case when o.parent is null then o.column_name else '' end, 'UTF8') || '\x00'
          || convert_to(o.relation, 'UTF8') || '\x00'
      where o.relation <> own_table.relation and to_regclass(quote_ident(o.relation)) is null;
      -- What is registered of a table that was dropped does not count.
      select o.* into known
      from own_table o
      where o.relation = coalesce(former, own_table.relation)
        and exists (select from pg_trigger t where t.tgrelid = own.oid and t.tgname = 'check_home');
      if known.of_interface <> interface then
        raise exception 'The table % is one of the interface %, and stays it. Create another one for %.', relation, known.of_interface, interface;
      end if;
      select o.relation, o.of_interface into other
      from own_table o
      where o.parent = own_table.relation and o.of_interface <> own_table.interface and to_regclass(quote_ident(o.relation)) is not null;
      if found then
        raise exception 'The table %, which leads to %, is one of the interface %. Drop it first.', other.relation, relation, other.of_interface;
      end if;
      select e.type, e.interfaces into other
      from person_table p
      join event_type e on e.record_type = p.record_type and e.persons <> '{}' and e.interfaces <> '{}'
      where p.relation = own_table.relation and own_table.interface <> all (e.interfaces)
      order by e.type
      limit 1;
      if found then
        raise exception 'The table % has the persons of the event %, which is one of %, and not of %. Register it for that interface.',
          relation, other.type, array_to_string(other.interfaces, ', '), interface;
      end if;

      if not exists (
        select
        from pg_constraint c
        where c.conrelid = own.oid and c.contype = 'f' and c.conkey = key and c.convalidated and not c.condeferrable
          and c.confrelid = quote_ident(coalesce(parent_table, 'account'))::regclass
          and c.confkey = array(
            select a.attnum
            from pg_attribute a
            where a.attrelid = c.confrelid and a.attname = any (case when parent_table is null then '{id,interface}' else '{id}'::name[] end)
            order by a.attname
          )
      ) then
        if parent_table is null then
          execute format('alter table %I add foreign key (account_id, interface) references account (id, interface)', relation);
        else
          execute format('alter table %I add foreign key (%I) references %I (id)', relation, parent_column, parent_table);
        end if;
      end if;
      if parent_table is null and not exists (
        select
        from pg_constraint c
        where c.conrelid = own.oid and c.contype = 'c'
          and pg_get_constraintdef(c.oid) = format('CHECK ((interface = %L::interface_name))', interface)
      ) then
        execute format('alter table %I add check (interface = %L)', relation, interface);
      end if;

      insert into own_table as o values (relation, interface, parent_table, coalesce(parent_column, 'account_id'))
      on conflict on constraint own_table_pkey do update
      set of_interface = excluded.of_interface, parent = excluded.parent, column_name = excluded.column_name;
      if former is not null then
        update own_table o set parent = own_table.relation where o.parent = former;
        update own_sequence s set relation = own_table.relation where s.relation = former;
        delete from own_table o where o.relation = former;
      end if;

      -- A child has the interface of its parent.
      for app in
        select r.role, case when r.role = own_role and parent_table is null then format('interface = %L', interface) else 'true' end as rows
        from (values (own_role), (role_name('operator-cli'))) as r (role)
        where to_regrole(quote_ident(r.role)) is not null
      loop
        execute format('drop policy if exists %I on %I', app.role, relation);
        execute format('create policy %1$I on %2$I to %1$I using (%3$s)', app.role, relation, app.rows);
      end loop;
      if to_regrole(quote_ident(own_role)) is not null then
        execute format('revoke all on %I from %I', relation, own_role);
        if grants ~ '\w' then
          execute format('grant %s on %I to %I', grants, relation, own_role);
        end if;
      end if;
      execute format('alter table %I enable row level security', relation);
      perform guard_own_table(relation);
    end
    $$;

    -- Registers a sequence whose numbers are at the end of a column of a table that own_table() has registered: after a restore, it
    -- continues after them. Lets operators draw numbers that a restore has lost.
    create or replace function own_sequence(sequence text, relation text, column_name text) returns void
    language plpgsql
    set search_path = {schema}, pg_temp
    as $$
    declare
      column_type text;
    begin
      if not exists (
        select
        from pg_class c
        where c.relnamespace = quote_ident({schema_text})::regnamespace and c.relname = own_sequence.sequence and c.relkind = 'S'
      ) then
        raise exception 'There is no sequence % in the schema %.', sequence, {schema_text};
      end if;
      if exists (select from shared_right r where r.words like '% on sequence ' || own_sequence.sequence) then
        raise exception 'The sequence % is one of the platform. Create another one.', sequence;
      end if;
      if not exists (
        select from own_table o where o.relation = own_sequence.relation and to_regclass(quote_ident(o.relation)) is not null
      ) then
        raise exception 'own_table() has not registered the table %, which the sequence % is for; call it first.', relation, sequence;
      end if;
      select format_type(a.atttypid, a.atttypmod) into column_type
      from pg_attribute a
      where a.attrelid = quote_ident(relation)::regclass and a.attname = own_sequence.column_name and a.attnum > 0 and not a.attisdropped;
      if not found then
        raise exception 'The table % has no column %, which the sequence % is for.', relation, column_name, sequence;
      end if;
      if column_type !~ '^(smallint|integer|bigint)$' and not exists (
        select from pg_type t where t.oid = column_type::regtype and t.typcategory = 'S'
      ) then
        raise exception 'The column % of the table % has the type %. A column of the sequence % is a text that ends with the number, or an integer.',
          column_name, relation, column_type, sequence;
      end if;
      insert into own_sequence values (sequence, relation, column_name)
      on conflict on constraint own_sequence_pkey do update set relation = excluded.relation, column_name = excluded.column_name;
      if to_regrole(quote_ident(role_name('operator-cli'))) is not null then
        execute format('grant usage on sequence %I to %I', sequence, role_name('operator-cli'));
      end if;
    end
    $$;

    -- Creates the role of an interface, and grants it what every interface may do. Only the owner can call it, also again. An owner that
    -- may not create a role gets none: row-level security and the limits of a stolen login then need one.
    create or replace function add_interface(name {schema}.interface_name, account_type text) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      own_role constant text := {schema}.role_of_interface(name);
      found_role pg_roles;
      members text;
    begin
      -- Two names with one role would be one interface.
      if name::text !~ '^[a-z]+(-[a-z]+)*$' or length(name::text) > 31 or name::text ~ '^pg(-|$)' then
        raise exception 'The name of the interface % must consist of lowercase words with hyphens between them, of at most 31 characters, and not begin with the word pg.', name;
      end if;
      -- Roles belong to the whole cluster: the migration of another database may create it at this moment.
      if to_regrole(quote_ident(own_role)) is null then
        begin
          execute format('create role %I nologin', own_role);
        exception
          when duplicate_object or unique_violation then
            null;
          when insufficient_privilege then
            raise warning 'The login % may not create the role %, so logins of it have no rights and row-level security does not apply. Create it, and call add_interface() again.',
              session_user, own_role;
        end;
      end if;
      select r.* into found_role from pg_roles r where r.rolname = own_role;
      if found_role.rolcanlogin or found_role.rolsuper or found_role.rolbypassrls or found_role.rolcreaterole then
        raise exception 'The role % exists and is no group role of the interface %: it can log in, or has a right that no app needs. Rename it, or run: alter role %I nologin nosuperuser nobypassrls nocreaterole',
          own_role, name, own_role;
      end if;
      -- Before it has a right in this database. Another database of the cluster can have the same interface.
      if {schema}.role_of_app(name::text || '-api') is distinct from found_role.oid then
        select string_agg(quote_ident(r.rolname), ', ' order by r.rolname) into members
        from pg_roles r
        where r.rolcanlogin and not r.rolsuper and r.rolname <> current_user and pg_has_role(r.oid, found_role.oid, 'member');
        if members is not null then
          raise warning 'The role % existed before, with the logins %. They can do all that the interface % can in this database, too, unless you revoke their right to connect.',
            own_role, members, name;
        end if;
      end if;
      insert into {schema}.interface as i values (add_interface.name, add_interface.account_type)
      on conflict on constraint interface_pkey do update set account_type = excluded.account_type;
      perform {schema}.grant_shared_rights(add_interface.name);
      perform {schema}.guard_audit_entries();
    end
    $$;

    -- Whether columns can have these values: by their types, and by the check constraints over no other column.
    create function are_valid(of_table oid, columns smallint[], new_values text[]) returns boolean
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    set lock_timeout = '50ms'
    as $$
    declare
      values_of_row text;
      conditions text;
      is_valid boolean;
    begin
      -- A longer text than the type allows is cut.
      select string_agg(format('%L::%s as %I', n.value, format_type(a.atttypid, a.atttypmod), a.attname), ', '),
        string_agg(case when n.value is null then format('%I is null', a.attname) else format('%I = %L::text', a.attname, n.value) end, ' and ')
      into values_of_row, conditions
      from unnest(columns, new_values) as n (number, value)
      join pg_attribute a on a.attrelid = of_table and a.attnum = n.number;
      select concat(conditions, string_agg(format(' and coalesce((%s), true)', pg_get_expr(c.conbin, c.conrelid)), ''))
      into conditions
      from pg_constraint c
      where c.conrelid = of_table and c.contype = 'c' and c.conkey <@ columns;
      execute format('select %s from (select %s) t', conditions, values_of_row) into is_valid;
      return is_valid;
    exception
      -- The caller may not call a function of a constraint, or a migration has locked the table, which pg_get_expr() opens.
      when insufficient_privilege or lock_not_available then
        return true;
      when others then
        return false;
    end
    $$;

    -- The columns of a table that an erasure can replace, and what replaces each in a row `t`: null or, where null is not allowed, a text
    -- that no other record has. The only rule of placeholders. Without columns that do not exist, and if the table does not have the owner
    -- of the registry.
    create function placeholders_of(of_table text, columns text[], addresses text[])
    returns table (column_name text, is_address boolean, replacement text)
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      own constant oid := (
        select c.oid
        from pg_class c
        where c.oid = to_regclass(format('%I.%I', {schema_text}, of_table)) and c.relkind = 'r'
          and c.relowner = (select r.relowner from pg_class r where r.oid = '{schema}.person_table'::regclass)
      );
      one record;
      longest text;
      numbers smallint[] := '{}';
      examples text[] := '{}';
      refused smallint[] := '{}';
    begin
      for one in
        select a.attnum, a.attname = any (addresses) as is_address,
          not a.attnotnull and not exists (
            select from pg_index i where i.indrelid = own and i.indnullsnotdistinct and a.attnum = any (i.indkey)
          ) as is_nullable,
          t.typcategory = 'S' and not exists (
            select from pg_constraint f where f.conrelid = own and f.contype = 'f' and a.attnum = any (f.conkey)
          ) as is_text
        from pg_attribute a
        join pg_type t on t.oid = a.atttypid
        where a.attrelid = own and a.attname = any (columns) and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
          and not exists (
            select from pg_constraint f where f.confrelid = own and f.contype = 'f' and a.attnum = any (f.confkey) and f.confupdtype <> 'c'
          )
        order by a.attnum
      loop
        longest := concat('erased-', 9223372036854775807, case when one.is_address then '@erased.invalid' end);
        if one.is_nullable and {schema}.are_valid(own, array[one.attnum], array[null]) then
          longest := null;
        elsif not one.is_text or not {schema}.are_valid(own, array[one.attnum], array[longest]) then
          continue;
        end if;
        numbers := array_append(numbers, one.attnum);
        examples := array_append(examples, longest);
      end loop;
      for one in
        select c.conkey, array(select examples[array_position(numbers, k.number)] from unnest(c.conkey) as k (number)) as new_values
        from pg_constraint c
        where c.conrelid = own and c.contype = 'c' and cardinality(c.conkey) > 1 and c.conkey <@ numbers
      loop
        if not {schema}.are_valid(own, one.conkey, one.new_values) then
          refused := refused || one.conkey;
        end if;
      end loop;
      return query
        select a.attname::text, a.attname = any (addresses), case
          when n.example is not null
          then format('concat(''erased-'', t.id%s)', case when a.attname = any (addresses) then ', ''@erased.invalid''' end)
        end
        from unnest(numbers, examples) as n (number, example)
        join pg_attribute a on a.attrelid = own and a.attnum = n.number
        where n.number <> all (refused);
    end
    $$;

    -- As before, of all records of a type.
    create or replace function person_columns(of_record_type text)
    returns table (relation text, column_name text, is_address boolean, replacement text)
    language sql stable
    set search_path = pg_catalog, pg_temp
    as $$
      select p.relation, c.column_name, c.is_address, c.replacement
      from {schema}.person_table p
      join {schema}.own_table o on o.relation = p.relation
      cross join {schema}.placeholders_of(p.relation, p.columns, p.addresses) c
      where p.record_type = of_record_type
    $$;

    -- The addresses in a column of a table, in the order of accounts and ids. Read from indexes that begin with the columns that lead to the
    -- account.
    create function person_addresses_by_account(of_table text, of_column text, after_account bigint, after_id bigint, row_limit int)
    returns table (id bigint, account_id bigint, address text)
    language plpgsql stable
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    set enable_bitmapscan = off
    set enable_sort = off
    set jit = off
    as $$
    declare
      own {schema}.own_table;
      row_name text := 't';
      joined text := '';
    begin
      if not exists (
        select
        from {schema}.person_table p
        cross join {schema}.person_columns(p.record_type) c
        where p.relation = of_table and c.relation = of_table and c.column_name = of_column and c.is_address
      ) then
        return;
      end if;
      loop
        select o.* into own from {schema}.own_table o where o.relation = coalesce(own.parent, of_table);
        exit when own.parent is null;
        joined := joined || format(' join {schema}.%1$I %2$sp on %2$sp.id = %2$s.%3$I', own.parent, row_name, own.column_name);
        row_name := row_name || 'p';
      end loop;
      return query execute format(
        'select t.id, %1$s.account_id, t.%2$I::text from {schema}.%3$I t%4$s
         where %1$s.account_id >= $1 and (%1$s.account_id, t.id) > ($1, $2) and t.%2$I is not null
         order by %1$s.account_id, t.id
         limit $3', row_name, of_column, of_table, joined) using after_account, after_id, row_limit;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema())), '{schema_text}', quote_literal(current_schema()));

  revoke execute on function guard_own_table, are_valid, placeholders_of, person_addresses_by_account from public;
  insert into shared_right
  values ('execute on routine are_valid(of_table oid, columns smallint[], new_values text[])'),
    ('execute on routine placeholders_of(of_table text, columns text[], addresses text[])');
  for app in
    select a.role
    from (select role_of_interface(name) from interface union all values ('webhook_worker'), ('operator')) as a (role)
    where to_regrole(quote_ident(a.role)) is not null
  loop
    execute format('grant execute on function are_valid, placeholders_of to %I', app);
  end loop;
  if to_regrole('operator') is not null then
    grant execute on function person_addresses_by_account to operator;
  end if;
end
$do$;

-- What earlier migrations registered for the sample, in a database that has none of its accounts: another service may use these words. If
-- the sample's service is the one of the database, the end of this run of `deedwire-operator database migrate` registers them again.
with absent as (
  select i.name from interface i where i.name in ('lender', 'partner') and not exists (select from account a where a.interface = i.name)
), without_events as (
  delete from event_type e
  using absent a
  where e.interfaces = array[a.name] and e.type in (
    'referral.converted', 'referral.created', 'referral.declined', 'team_member.added', 'team_member.removed', 'team_member.updated'
  )
), without_persons as (
  delete from person_table p
  using own_table o join absent a on a.name = o.of_interface
  where o.relation = p.relation and p.relation in ('referral', 'team_member')
)
delete from audit_action
using absent a
where action like case a.name when 'lender' then 'member.%' else 'referral.%' end;

-- Late, because the apps wait for these locks.
select guard_own_table(relation) from own_table where to_regclass(quote_ident(relation)) is not null order by relation;
