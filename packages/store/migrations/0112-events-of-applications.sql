-- append_event() lets an application append an event in its own transaction. An application names an account by its global identifier, or by an
-- id of its own, and a record by any text. New rows only: 0113 validates the bounds.

alter table installation
  -- The namespace of global identifiers. `migrate` writes it once. It never changes, because others have stored identifiers.
  add column gid_namespace text,
  add constraint installation_gid_namespace_bounds check (gid_namespace ~ '^[a-z][a-z0-9-]{0,62}$') not valid,
  -- Begins each API key, as the service says. `migrate` writes it.
  add column api_key_prefix text,
  add constraint installation_api_key_prefix_bounds check (api_key_prefix ~ '^[a-z][a-z0-9]{0,15}$') not valid;

alter table interface
  -- The version that a new client is pinned to, as the service says. Null: it has no current one. `migrate` writes it.
  add column client_version text,
  add constraint interface_client_version_bounds check (octet_length(client_version) <= 100) not valid;

alter table account
  -- The id by which the application knows the account. Null: it knows the global identifier.
  add column external_id text,
  add constraint account_external_id_bounds check (octet_length(external_id) between 1 and 200 and not starts_with(external_id, 'gid://')) not valid;

-- Few rows, and only operators and applications insert accounts: no app waits for the lock.
-- squawk-ignore require-concurrent-index-creation
create unique index account_by_external_id on account (interface, external_id) where external_id is not null;

alter table event_type
  -- The platform appends it, and no application can.
  add column of_platform boolean not null default false;

-- 63 bits of the hash of a record that has no id of ours, for `record_id`. The text is decoded.
create function record_hash(of_record text) returns bigint
language sql immutable strict
return ('x' || left(encode(sha256(convert_to(
  case when of_record ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then lower(of_record) else of_record end, 'UTF8'
)), 'hex'), 16))::bit(64)::bigint & 9223372036854775807;

do $do$
begin
  execute replace(replace($schema$
    -- Whether new_record_id() draws the ids of the records of a type: of accounts, and of tables with persons.
    create function has_own_ids(of_record_type text) returns boolean
    language sql stable
    return exists (select from {schema}.interface i where i.account_type = of_record_type)
      or exists (select from {schema}.person_table p where p.record_type = of_record_type);

    -- `record_id` of an event about a record, which an application names by its id or its global identifier: the id that new_record_id() drew,
    -- or 63 bits of the hash of the id in the application. Null: no record of the type can have it.
    create function record_of_application(of_record_type text, named text) returns bigint
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      prefix constant text := (select format('gid://%s/%s/', n.gid_namespace, of_record_type) from {schema}.installation n where n.only_row);
      own_id text := named;
    begin
      if starts_with(named, 'gid://') then
        own_id := substr(named, length(prefix) + 1);
        if starts_with(named, prefix) is not true or own_id collate "C" !~ '^([A-Za-z0-9_.~-]|%[0-9A-Fa-f]{2})+$' then
          return null;
        end if;
        select convert_from(string_agg(
          case when starts_with(part[1], '%') then decode(substr(part[1], 2), 'hex') else convert_to(part[1], 'UTF8') end, ''::bytea order by number
        ), 'UTF8')
        into own_id
        from regexp_matches(own_id, '%..|[^%]+', 'g') with ordinality as parts (part, number);
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

    -- For functions of the owner. The account of an interface that an application names.
    create function account_of_application(of_interface {schema}.interface_name, named text) returns bigint
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      found_id bigint;
      prefix text;
      number text;
    begin
      if starts_with(named, 'gid://') then
        select format('gid://%s/%s/', n.gid_namespace, i.account_type) into prefix
        from {schema}.interface i, {schema}.installation n
        where i.name = of_interface and n.gid_namespace is not null;
        number := case when starts_with(named, prefix) then substr(named, length(prefix) + 1) end;
        if number ~ '^[1-9][0-9]{0,18}$' and lpad(number, 19, '0') collate "C" <= '9223372036854775807' then
          select a.id into found_id from {schema}.account a where a.id = number::bigint and a.interface = of_interface;
        end if;
      else
        select a.id into found_id from {schema}.account a where a.interface = of_interface and a.external_id = named;
      end if;
      if found_id is null then
        raise exception using
          errcode = 'DW002',
          message = format('The interface %s has no account %s.', of_interface, coalesce(left(named, 250), 'null')),
          hint = case
            when starts_with(named, 'gid://') then format('A global identifier of its accounts is %s<number>. What begins with gid:// is never an external id.',
              coalesce(prefix, 'known once `deedwire-operator database migrate` has run'))
            else format('Create the account first, with %L as its external id.', left(named, 250))
          end;
      end if;
      return found_id;
    end
    $$;

    -- Creates the partition of an event if it is missing: no worker has run for days, or the clock was set back.
    create function ensure_event_partition(event_id bigint) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      if to_regclass(format('%I.%I', {schema_text},
        'webhook_event_' || to_char(date '2026-01-01' + ((event_id >> 22) / 86400000)::int, 'YYYYMMDD'))) is null then
        begin
          call {schema}.webhook_create_partitions(2);
        exception
          when duplicate_table or duplicate_object or unique_violation then
            null; -- another transaction has created them
        end;
      end if;
    end
    $$;

    -- Appends an event in the transaction of the caller, and returns its id. The worker of the account is not notified, because a transaction
    -- that notifies cannot be prepared. A later release only adds parameters with defaults. Errors: DW001 the type, DW002 the account, DW003
    -- the snapshot, DW004 its size, DW005 the record, DW006 no id is free.
    create function append_event(type text, account text, snapshot json, record text default null) returns bigint
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      bytes_max constant int := 500000;
      draws_max constant int := 5;
      own {schema}.event_type;
      own_account bigint;
      own_record bigint;
      content jsonb;
      missing text;
      event_id bigint;
    begin
      select * into own from {schema}.event_type e where e.type = append_event.type and not e.of_platform;
      if not found then
        raise exception using
          errcode = 'DW001',
          message = format('The service has no event %s that an application appends.', coalesce(left(append_event.type, 250), 'null')),
          hint = 'Run `deedwire-operator database migrate` with the release that defines it, before the application appends it.';
      end if;
      if cardinality(own.interfaces) <> 1 then
        raise exception using
          errcode = 'DW001',
          message = format('The event %s is one of the interfaces %s.', own.type, array_to_string(own.interfaces, ', ')),
          hint = 'An event that an application appends has one interface.';
      end if;
      own_account := {schema}.account_of_application(own.interfaces[1], append_event.account);
      -- Before its triggers, which demand read committed.
      perform {schema}.check_home_of_application(own_account);

      if json_typeof(append_event.snapshot) is distinct from 'object' then
        raise exception using
          errcode = 'DW003',
          message = format('The snapshot of %s is no JSON object.', own.type),
          hint = 'Its members are those of the schema of the event.';
      end if;
      if octet_length(append_event.snapshot::text) > bytes_max then
        raise exception using
          errcode = 'DW004',
          message = format('The snapshot of %s has %s bytes; at most %s are stored.', own.type, octet_length(append_event.snapshot::text), bytes_max),
          hint = 'Leave out what no payload of the event contains: a payload has at most 256,000 bytes.';
      end if;
      if own.required <> '{}' then
        content := append_event.snapshot;
        select path into missing
        from unnest(own.required) with ordinality as r (path, number)
        where content #> string_to_array(path, '.') is null
        order by number
        limit 1;
        if found then
          raise exception using
            errcode = 'DW003',
            message = format('The snapshot of %s lacks the member %s.', own.type, missing),
            hint = format('Every snapshot of it has: %s.', array_to_string(own.required, ', '));
        end if;
      end if;

      if append_event.record is not null then
        if own.record_type is null then
          raise exception using
            errcode = 'DW005',
            message = format('The event %s is about no record.', own.type),
            hint = 'Omit the record, or define it with the event.';
        end if;
        own_record := {schema}.record_of_application(own.record_type, append_event.record);
        if own_record is null then
          raise exception using
            errcode = 'DW005',
            message = format('The record of %s has the id %L.', own.type, left(append_event.record, 250)),
            hint = case
              when {schema}.has_own_ids(own.record_type) then format('An id of the type %s is a number that new_record_id() has drawn, or the global identifier with it.', own.record_type)
              else format('An id of the type %s is a text of 1 to 200 bytes, or the global identifier with it.', own.record_type)
            end;
        end if;
      end if;

      for draw in 1..draws_max loop
        event_id := {schema}.new_record_id();
        perform {schema}.ensure_event_partition(event_id);
        insert into {schema}.webhook_event (id, account_id, interface, event_type, snapshot, record_id)
        values (event_id, own_account, own.interfaces[1], own.type, append_event.snapshot, own_record)
        on conflict do nothing; -- an id repeats after the clock was set back
        if found then
          insert into {schema}.webhook_event_queue (account_id, interface, event_id)
          values (own_account, own.interfaces[1], event_id);
          return event_id;
        end if;
      end loop;
      raise exception using
        errcode = 'DW006',
        message = format('%s ids repeat: the clock of the database server was set back.', draws_max),
        hint = 'Repeat the transaction.';
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema())), '{schema_text}', quote_literal(current_schema()));
end
$do$;

revoke execute on function record_hash, has_own_ids, record_of_application, account_of_application, ensure_event_partition, append_event from public;
select for_applications('append_event(text, text, json, text)');
insert into shared_right values ('select (gid_namespace) on installation');
select grant_shared_rights(name) from interface where has_role(name || '-api');
select for_app(app, 'grant select (gid_namespace) on installation to {role}') from (values ('webhook-worker'), ('operator-cli')) as a (app);
