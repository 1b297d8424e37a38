-- The functions for applications do less for each event, make a missing partition without waiting for those that change accounts, and refuse
-- with errors of their own what PostgreSQL refused.

do $do$
declare
  change record;
  definition text;
begin
  execute replace(replace(replace($schema$
    -- Creates the partition of a day unless it exists. It is created and then attached, because `create table … partition of` locks out every
    -- reader of the parent.
    create function ensure_partition(of_parent text, day date) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      partition_name constant text := of_parent || to_char(day, '_YYYYMMDD');
    begin
      if to_regclass(format('%I.%I', {schema_text}, partition_name)) is not null then
        return;
      end if;
      execute format('create table %1$I.%2$I (like %1$I.%3$I including defaults including constraints)',
        {schema_text}, partition_name, of_parent);
      if of_parent = 'webhook_exchange' then
        execute format('alter table %I.%I replica identity full', {schema_text}, partition_name);
      end if;
      execute format('alter table %1$I.%3$I attach partition %1$I.%2$I for values from (%4$s) to (%5$s)',
        {schema_text}, partition_name, of_parent,
        (day - date '2026-01-01')::bigint * 86400000 << 22, (day + 1 - date '2026-01-01')::bigint * 86400000 << 22);
    end
    $$;

    -- Creates the missing partitions of the history, from yesterday (the clock can be set back) to `days_ahead` days from
    -- today. A partition holds the ids of one day, from midnight UTC. The bound keeps a compromised login from filling the catalog.
    create or replace procedure webhook_create_partitions(days_ahead int)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      days_ahead_max constant int := 366;
      today constant date := (clock_timestamp() at time zone 'UTC')::date;
    begin
      if days_ahead is null or days_ahead > days_ahead_max then
        raise exception 'Partitions are created for at most % days, not %.', days_ahead_max, days_ahead;
      end if;
      perform {schema}.ensure_partition(parent, day::date)
      from unnest(array['webhook_event', 'webhook_payload', 'webhook_delivery', 'webhook_attempt', 'webhook_exchange'])
        with ordinality as parents (parent, number)
      cross join generate_series(today - 1, today + days_ahead, interval '1 day') as day
      order by number, day;
    end
    $$;

    -- Creates the partition of an event, and that of the next day, if they are missing: no worker has run for days, or the clock was set back.
    -- The worker creates those of the other tables when it starts. Another transaction that creates one is waited for.
    create or replace function ensure_event_partition(event_id bigint) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      first_day constant date := date '2026-01-01' + ((event_id >> 22) / 86400000)::int;
    begin
      for day in 0..1 loop
        begin
          perform {schema}.ensure_partition('webhook_event', first_day + day);
        exception
          when duplicate_table or duplicate_object or unique_violation then
            null; -- another transaction has created it
          when deadlock_detected then
            raise exception using
              errcode = 'serialization_failure',
              message = 'Another transaction creates the partition of the event, and waits for this one.',
              hint = 'Repeat the transaction.';
        end;
      end loop;
    end
    $$;

    -- As check_homes(), at any isolation and for any login. For functions of the owner, which the login of an application calls: their search
    -- path is set.
    create or replace function check_home_of_application(of_account bigint) returns void
    language plpgsql
    as $$
    declare
      homes text := current_setting('deedwire.homes', true);
    begin
      if homes = '*' then
        return;
      end if;
      lock table only {schema}.account_home in access share mode;
      if pg_relation_size('{schema}.account_home') = 0 then
        homes := set_config('deedwire.homes', '*', true);
      else
        perform {schema}.check_moved_home(of_account);
      end if;
    end
    $$;

    -- The part of it for a database in which an account was ever frozen. After a lock on account_home.
    create function check_moved_home(of_account bigint) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
    as $$
    declare
      known constant text := current_setting('deedwire.homes', true);
    begin
      if strpos(known, concat(',', of_account, ',')) > 0 then
        return;
      end if;
      if current_setting('transaction_isolation') in ('repeatable read', 'serializable') and {schema}.lacks_home_change() then
        raise exception using
          errcode = 'serialization_failure',
          message = 'The homes of accounts have changed since this transaction began.',
          hint = 'Repeat the transaction.';
      end if;
      if exists (select from {schema}.account_away a where a.account_id = of_account) then
        raise exception using
          errcode = 'ZH001',
          message = format('The account %s is frozen, or at home in another cell.', of_account),
          hint = 'Repeat the transaction: a split of the cell ends within minutes.';
      end if;
      perform set_config('deedwire.homes', concat(case when length(known) < 1000 then known end, ',', of_account, ','), true);
    end
    $$;

    -- `record_id` of an event about a record, which an application names by its id or its global identifier: the id that new_record_id() drew,
    -- or 63 bits of the hash of the id in the application. Null: no record of the type can have it.
    create or replace function record_of_application(of_record_type text, named text) returns bigint
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      prefix text;
      own_id text := named;
    begin
      if starts_with(named, 'gid://') then
        select format('gid://%s/%s/', n.gid_namespace, of_record_type) into prefix from {schema}.installation n where n.only_row;
        own_id := substr(named, length(prefix) + 1);
        if starts_with(named, prefix) is not true or own_id collate "C" !~ '^([A-Za-z0-9_.~-]|%[0-9A-Fa-f]{2})+$' then
          return null;
        end if;
        begin
          select convert_from(string_agg(
            case when starts_with(part[1], '%') then decode(substr(part[1], 2), 'hex') else convert_to(part[1], 'UTF8') end, ''::bytea order by number
          ), 'UTF8')
          into own_id
          from regexp_matches(own_id, '%..|[^%]+', 'g') with ordinality as parts (part, number);
        exception
          when character_not_in_repertoire then
            return null; -- bytes that are not UTF-8, or U+0000
        end;
      end if;
      if octet_length(own_id) not between 1 and 200 then
        return null;
      end if;
      if not {schema}.has_own_ids(of_record_type) then
        return {schema}.record_hash(own_id);
      end if;
      return case when own_id ~ '^[1-9][0-9]{0,18}$' and lpad(own_id, 19, '0') collate "C" <= '9223372036854775807' then own_id::bigint end;
    end
    $$;

    -- Appends an event in the transaction of the caller, and returns its id. The worker of the account is not notified, because a transaction
    -- that notifies cannot be prepared. A later release only adds parameters with defaults. Errors: DW001 the type, DW002 the account, DW003
    -- the snapshot, DW004 its size, DW005 the record, DW006 no id is free. Applications wait for it, so that it runs few statements.
    create or replace function append_event(type text, account text, snapshot json, record text default null) returns bigint
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      bytes_max constant int := 500000;
      draws_max constant int := 5;
      own_type text;
      own_interfaces {schema}.interface_name[];
      own_record_type text;
      required text[];
      own_account bigint;
      own_record bigint;
      content jsonb;
      missing text;
      event_id bigint;
    begin
      -- An external id never begins with gid://.
      select e.type, e.interfaces, e.record_type, e.required, a.id
      into own_type, own_interfaces, own_record_type, required, own_account
      from {schema}.event_type e
      left join {schema}.account a on a.interface = e.interfaces[1] and a.external_id = append_event.account
      where e.type = append_event.type and not e.of_platform;
      if own_type is null then
        raise exception using
          errcode = 'DW001',
          message = format('The service has no event %s that an application appends.', coalesce(left(append_event.type, 250), 'null')),
          hint = 'Run `deedwire-operator database migrate` with the release that defines it, before the application appends it.';
      end if;
      if cardinality(own_interfaces) <> 1 then
        raise exception using
          errcode = 'DW001',
          message = format('The event %s is one of the interfaces %s.', own_type, array_to_string(own_interfaces, ', ')),
          hint = 'An event that an application appends has one interface.';
      end if;
      if own_account is null then
        own_account := {schema}.account_of_application(own_interfaces[1], append_event.account);
      end if;
      -- Before its triggers, which demand read committed.
      if current_setting('deedwire.homes', true) is distinct from '*' then
        perform {schema}.check_home_of_application(own_account);
      end if;

      if json_typeof(append_event.snapshot) is distinct from 'object' then
        raise exception using
          errcode = 'DW003',
          message = format('The snapshot of %s is no JSON object.', own_type),
          hint = 'Its members are those of the schema of the event.';
      end if;
      if octet_length(append_event.snapshot::text) > bytes_max then
        raise exception using
          errcode = 'DW004',
          message = format('The snapshot of %s has %s bytes; at most %s are stored.', own_type, octet_length(append_event.snapshot::text), bytes_max),
          hint = 'Leave out what no payload of the event contains: a payload has at most 256,000 bytes.';
      end if;
      begin
        content := append_event.snapshot;
      exception
        when data_exception or program_limit_exceeded then
          raise exception using
            errcode = 'DW003',
            message = format('PostgreSQL cannot read the snapshot of %s: %s.', own_type, sqlerrm),
            hint = 'No text has the character U+0000 or half of a surrogate pair, and no number more than 131,072 digits.';
      end;
      if required <> '{}' then
        select path into missing
        from unnest(required) with ordinality as r (path, number)
        where content #> string_to_array(path, '.') is null
        order by number
        limit 1;
        if missing is not null then
          raise exception using
            errcode = 'DW003',
            message = format('The snapshot of %s lacks the member %s.', own_type, missing),
            hint = format('Every snapshot of it has: %s.', array_to_string(required, ', '));
        end if;
      end if;

      if append_event.record is not null then
        if own_record_type is null then
          raise exception using
            errcode = 'DW005',
            message = format('The event %s is about no record.', own_type),
            hint = 'Omit the record, or define it with the event.';
        end if;
        own_record := {schema}.record_of_application(own_record_type, append_event.record);
        if own_record is null then
          raise exception using
            errcode = 'DW005',
            message = format('The record of %s has the id %L.', own_type, left(append_event.record, 250)),
            hint = case
              when {schema}.has_own_ids(own_record_type) then format('An id of the type %s is a number that new_record_id() has drawn, or the global identifier with it.', own_record_type)
              else format('An id of the type %s is a text of 1 to 200 bytes, or the global identifier with it.', own_record_type)
            end;
        end if;
      end if;

      for draw in 1..draws_max loop
        event_id := {schema}.new_record_id();
        if to_regclass({partitions} || to_char(date '2026-01-01' + ((event_id >> 22) / 86400000)::int, 'YYYYMMDD')) is null then
          perform {schema}.ensure_event_partition(event_id);
        end if;
        with appended as (
          insert into {schema}.webhook_event (id, account_id, interface, event_type, snapshot, record_id)
          values (event_id, own_account, own_interfaces[1], own_type, append_event.snapshot, own_record)
          on conflict do nothing -- an id repeats after the clock was set back
          returning id
        )
        insert into {schema}.webhook_event_queue (account_id, interface, event_id)
        select own_account, own_interfaces[1], a.id from appended a;
        if found then
          return event_id;
        end if;
      end loop;
      raise exception using
        errcode = 'DW006',
        message = format('%s ids repeat: the clock of the database server was set back.', draws_max),
        hint = 'Repeat the transaction.';
    end
    $$;
  $schema$, '{schema_text}', quote_literal(current_schema())), '{partitions}', quote_literal(quote_ident(current_schema()) || '.webhook_event_')),
    '{schema}', quote_ident(current_schema()));

  for change in
    select *
    from (values
      -- Before the lock on accounts, which the creation of a partition would wait for, also for that of another transaction.
      ('lock_account_of_application', $$own.id := {schema}.account_of_application($$, $$perform {schema}.ensure_event_partition({schema}.new_record_id());
      own.id := {schema}.account_of_application($$),
      ('create_api_key', $$perform {schema}.ensure_event_partition({schema}.new_record_id());
      $$, ''),
      ('create_api_key', $$select i.api_key_prefix, i.key_self_service into$$, $$if create_api_key.expires_at > '9999-12-31Z' then
        raise exception using errcode = 'DW007', message = 'The key would expire too late.', hint = 'Pass null for a key that does not expire.';
      end if;
      select i.api_key_prefix, i.key_self_service into$$),
      -- A later release adds parameters.
      ('audit_change', $$'{schema}.create_account(text, text, text, text)'$$, $$to_regproc('{schema}.create_account')$$),
      ('audit_portal_session', $$'{schema}.create_account(text, text, text, text)'$$, $$to_regproc('{schema}.create_account')$$),
      -- `migrate` has created one.
      ('create_account', $$if not exists (select from {schema}.organization) then
          -- One at a time, so that the first accounts do not create two. Above read committed, the second one fails with 40001.
          update {schema}.installation set gid_namespace = gid_namespace where only_row;
          insert into {schema}.organization (name) select namespace where not exists (select from {schema}.organization);
        end if;
        $$, ''),
      ('create_account', $$create_account.organization ~ '/[1-9][0-9]{0,17}$'$$,
        $$create_account.organization collate "C" ~ '^gid://[a-z0-9-]+/Organization/[1-9][0-9]{0,18}$'$$),
      ('create_account', $$substring(create_account.organization from '[0-9]+$')::bigint$$,
        $$substring(create_account.organization from '[0-9]+$')::numeric$$),
      ('create_account', $$message = case when create_account.organization is null then 'The service has several organizations.'$$,
        $$message = case when create_account.organization is null and organization_count = 0 then 'The service has no organization.'
            when create_account.organization is null then 'The service has several organizations.'$$),
      ('create_account', $$hint = 'Pass the global identifier of one: `deedwire-operator organization list` shows them.'$$,
        $$hint = case when create_account.organization is null and organization_count = 0 then 'Run `deedwire-operator database migrate`, which creates one.'
            else 'Pass the global identifier of one: `deedwire-operator organization list` shows them.' end$$)
    ) as changes (function_name, old_text, new_text)
  loop
    definition := pg_get_functiondef(to_regproc(change.function_name));
    change.old_text := replace(change.old_text, '{schema}', quote_ident(current_schema()));
    if cardinality(string_to_array(definition, change.old_text)) <> 2 then
      raise exception 'The function % is not that of an earlier migration.', change.function_name;
    end if;
    execute replace(definition, change.old_text, replace(change.new_text, '{schema}', quote_ident(current_schema())));
  end loop;
end
$do$;

revoke execute on function ensure_partition, check_moved_home from public;
