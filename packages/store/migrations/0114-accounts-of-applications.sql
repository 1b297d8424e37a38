-- An application creates accounts in its own transaction, and wakes the worker after it.

do $do$
declare
  change record;
  definition text;
begin
  execute replace($schema$
    -- The global identifier of a record: of one of ours by its number, of one of the application by its own id.
    create function gid(type text, id text) returns text
    language plpgsql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      namespace constant text := (select n.gid_namespace from {schema}.installation n where n.only_row);
      own_id constant text := case when gid.id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then lower(gid.id) else gid.id end;
    begin
      if namespace is null then
        raise exception using
          errcode = 'object_not_in_prerequisite_state',
          message = 'The database does not know the namespace of global identifiers.',
          hint = 'Run `deedwire-operator database migrate`.';
      end if;
      if (gid.type collate "C" ~ '^[A-Z][A-Za-z0-9]{0,62}$' and octet_length(own_id) between 1 and 200) is not true then
        raise exception using
          errcode = 'invalid_parameter_value',
          message = format('No global identifier has the type %L and the id %L.', left(gid.type, 250), left(own_id, 250)),
          hint = 'A type is a name such as Order, and an id has 1 to 200 bytes.';
      end if;
      return format('gid://%s/%s/%s', namespace, gid.type, case
        when own_id collate "C" ~ '^[A-Za-z0-9_.~-]+$' then own_id
        -- As gid() in packages/core.
        else (
          select string_agg(case
            when octet < 128 and chr(octet) collate "C" ~ '[A-Za-z0-9_.~-]' then chr(octet)
            else '%' || lpad(upper(to_hex(octet)), 2, '0')
          end, '' order by number)
          from convert_to(own_id, 'UTF8') as encoded (bytes), generate_series(0, length(encoded.bytes) - 1) as number,
            get_byte(encoded.bytes, number) as octet
        )
      end);
    end
    $$;

    -- Creates an account for which the application has its own id, or finds the one that it has created before, and returns its global
    -- identifier. Without an organization, it belongs to the only one, which the first account creates.
    create function create_account(interface text, external_id text, name text, organization text default null) returns text
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    #variable_conflict use_column
    declare
      claim constant text := current_setting('deedwire.audit_claim', true);
      namespace constant text := (select n.gid_namespace from {schema}.installation n where n.only_row);
      own {schema}.interface;
      account_id bigint;
      organization_id bigint;
      organization_count int;
    begin
      select * into own from {schema}.interface i where i.name::text = create_account.interface;
      if not found then
        raise exception using
          errcode = 'DW007',
          message = format('The service has no interface %s.', coalesce(left(create_account.interface, 250), 'null')),
          hint = format('It has: %s.', (select string_agg(i.name::text, ', ' order by i.name) from {schema}.interface i));
      end if;
      if (octet_length(create_account.external_id) between 1 and 200 and not starts_with(create_account.external_id, 'gid://')) is not true then
        raise exception using
          errcode = 'DW007',
          message = format('An account cannot have the external id %L.', left(create_account.external_id, 250)),
          hint = 'It is the id by which your application knows the account, of 1 to 200 bytes. What begins with gid:// is only ever a global identifier.';
      end if;
      if (char_length(create_account.name) <= 200 and create_account.name ~ '\S') is not true then
        raise exception using
          errcode = 'DW007',
          message = format('An account cannot have the name %L.', left(create_account.name, 250)),
          hint = 'It has 1 to 200 characters, and is not blank.';
      end if;
      select a.id into account_id
      from {schema}.account a
      where a.interface = own.name and a.external_id = create_account.external_id;
      if found then
        return {schema}.gid(own.account_type, account_id::text);
      end if;

      if create_account.organization is null then
        if not exists (select from {schema}.organization) then
          -- One at a time, so that the first accounts do not create two. Above read committed, the second one fails with 40001.
          update {schema}.installation set gid_namespace = gid_namespace where only_row;
          insert into {schema}.organization (name) select namespace where not exists (select from {schema}.organization);
        end if;
        select count(*), min(o.id) into organization_count, organization_id from (select id from {schema}.organization limit 2) o;
      elsif create_account.organization ~ '/[1-9][0-9]{0,17}$'
        and starts_with(create_account.organization, format('gid://%s/Organization/', namespace)) then
        select count(*), min(o.id) into organization_count, organization_id
        from {schema}.organization o
        where o.id = substring(create_account.organization from '[0-9]+$')::bigint;
      end if;
      if organization_count is distinct from 1 then
        raise exception using
          errcode = 'DW007',
          message = case when create_account.organization is null then 'The service has several organizations.'
            else format('There is no organization %s.', left(create_account.organization, 250)) end,
          hint = 'Pass the global identifier of one: `deedwire-operator organization list` shows them.';
      end if;

      -- Before the lock of the insert, which the creation of a partition would wait for.
      perform {schema}.ensure_event_partition({schema}.new_record_id());
      perform set_config('deedwire.audit_claim', '{"application": "create_account"}', true);
      insert into {schema}.account as a (interface, organization_id, name, external_id)
      values (own.name, organization_id, create_account.name, create_account.external_id)
      on conflict (interface, external_id) where external_id is not null do nothing
      returning a.id into account_id;
      perform set_config('deedwire.audit_claim', coalesce(claim, ''), true);
      if account_id is null then
        select a.id into account_id
        from {schema}.account a
        where a.interface = own.name and a.external_id = create_account.external_id;
      end if;
      return {schema}.gid(own.account_type, account_id::text);
    end
    $$;

    -- Lets the worker of an account look for its events now. After the commit that appended them: it would find none before, and a transaction
    -- that notifies cannot be prepared, and waits for others that do.
    create function wake(account text) returns void
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      of_interface {schema}.interface_name;
    begin
      if starts_with(wake.account, 'gid://') then
        select i.name into of_interface
        from {schema}.interface i, {schema}.installation n
        where starts_with(wake.account, format('gid://%s/%s/', n.gid_namespace, i.account_type));
        if found then
          perform pg_notify('deedwire_wake', ({schema}.account_of_application(of_interface, wake.account) & 63)::text);
          return;
        end if;
      else
        perform pg_notify('deedwire_wake', (a.id & 63)::text)
        from {schema}.interface i
        join {schema}.account a on a.interface = i.name
        where a.external_id = wake.account;
        if found then
          return;
        end if;
      end if;
      raise exception using
        errcode = 'DW002',
        message = format('There is no account %s.', coalesce(left(wake.account, 250), 'null')),
        hint = 'An account is named by the external id with which it was created, or by its global identifier.';
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));

  -- The entry of an account says which function of an application has created it. Who can call none can also claim none.
  for change in
    select *
    from (values
      ('old_values jsonb;', $$application constant text := case
          when has_function_privilege(session_user, '{schema}.create_account(text, text, text, text)', 'execute') then left(claim ->> 'application', 100)
        end;
        old_values jsonb;$$),
      ($$if claim ->> 'command' is not null then$$, $$if application is not null then
          details := details || jsonb_build_object('application', application);
        end if;
        if claim ->> 'command' is not null then$$)
    ) as changes (old_text, new_text)
  loop
    definition := pg_get_functiondef(to_regproc('audit_change'));
    if cardinality(string_to_array(definition, change.old_text)) <> 2 then
      raise exception 'The function audit_change is not that of an earlier migration.';
    end if;
    execute replace(definition, change.old_text, replace(change.new_text, '{schema}', quote_ident(current_schema())));
  end loop;
end
$do$;

revoke execute on function gid, create_account, wake from public;
select for_applications('gid(text, text)');
select for_applications('create_account(text, text, text, text)');
select for_applications('wake(text)');
