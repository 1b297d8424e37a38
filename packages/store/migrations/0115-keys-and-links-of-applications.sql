-- An application gives the customers for whose accounts it has ids of its own their first API key, and links to the portal. What it gives cannot
-- write records or manage keys: only an operator, or an invite of one, gives that.

do $do$
declare
  definition text;
  old_text constant text := $$'keyId', new.key_id, 'clientId'$$;
begin
  execute replace($schema$
    -- As toBase62() in packages/auth.
    create function to_base62(value numeric, digit_count int) returns text
    language plpgsql immutable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      alphabet constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
      digits text := '';
    begin
      for digit in 1..digit_count loop
        digits := substr(alphabet, mod(value, 62)::int + 1, 1) || digits;
        value := div(value, 62);
      end loop;
      return digits;
    end
    $$;

    -- 256 random bits: a UUID has 122.
    create function random_bytes() returns bytea
    language sql volatile
    return sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

    create function random_number() returns numeric
    language plpgsql volatile
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      bytes constant bytea := {schema}.random_bytes();
      number numeric := 0;
    begin
      for index in 0..length(bytes) - 1 loop
        number := number * 256 + get_byte(bytes, index);
      end loop;
      return number;
    end
    $$;

    -- CRC-32. PostgreSQL has it from version 18 on.
    create function checksum_of(value text) returns bigint
    language plpgsql immutable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      bytes constant bytea := convert_to(value, 'UTF8');
      checksum bigint := 4294967295;
    begin
      for index in 0..length(bytes) - 1 loop
        checksum := checksum # get_byte(bytes, index);
        for bit in 1..8 loop
          checksum := (checksum >> 1) # (case when checksum & 1 = 1 then 3988292384 else 0 end);
        end loop;
      end loop;
      return checksum # 4294967295;
    end
    $$;

    -- For the functions below. The account, which needs an id of the application: accounts that operators created are not for applications. Its
    -- changes take turns, so that counts stay valid: above read committed, the second one fails with 40001.
    create function lock_account_of_application(interface text, account text) returns {schema}.account
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      own_interface {schema}.interface_name;
      own {schema}.account;
    begin
      select i.name into own_interface from {schema}.interface i where i.name::text = lock_account_of_application.interface;
      if not found then
        raise exception using
          errcode = 'DW007',
          message = format('The service has no interface %s.', coalesce(left(lock_account_of_application.interface, 250), 'null')),
          hint = format('It has: %s.', (select string_agg(i.name::text, ', ' order by i.name) from {schema}.interface i));
      end if;
      own.id := {schema}.account_of_application(own_interface, lock_account_of_application.account);
      perform {schema}.check_home_of_application(own.id);
      update {schema}.account a set external_id = a.external_id where a.id = own.id and a.external_id is not null returning a.* into own;
      if not found then
        raise exception using
          errcode = 'DW007',
          message = format('The account %s has no external id.', left(lock_account_of_application.account, 250)),
          hint = 'An operator has created it. Let an operator issue its keys and links.';
      end if;
      return own;
    end
    $$;

    -- The abilities that an application can give, or an error.
    create function abilities_of_application(abilities text[]) returns text[]
    language plpgsql immutable
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      if (
        array_ndims(abilities) = 1 and abilities @> array['READ'] and abilities <@ array['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE']
        and cardinality(abilities) = (select count(distinct a) from unnest(abilities) a)
        and (abilities @> array['READ_PAYLOAD'] or not abilities @> array['CONFIGURE'])
      ) is not true then
        raise exception using
          errcode = 'DW007',
          message = format('An application cannot give the abilities %s.', coalesce(left(array_to_string(abilities, ', ', 'null'), 250), 'null')),
          hint = 'Pass READ, and at most READ_PAYLOAD, OPERATE and CONFIGURE, which needs READ_PAYLOAD. Others come from an operator or an invite.';
      end if;
      return abilities;
    end
    $$;

    -- Creates an API key of an account, and its client if it has none from an application. Returns the values of the credential headers. The
    -- key is not stored, so that it cannot be shown again.
    create function create_api_key(interface text, account text, name text,
      abilities text[] default array['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE'], expires_at timestamptz default null,
      out api_key text, out client_id text, out organization_id text)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    #variable_conflict use_column
    declare
      keys_max constant int := 5;
      daily_max constant int := 20;
      claim constant text := current_setting('deedwire.audit_claim', true);
      given constant text[] := {schema}.abilities_of_application(create_api_key.abilities);
      own {schema}.account;
      version text;
      prefix text;
      may_create boolean;
      client bigint;
      new_key_id text;
    begin
      if (char_length(create_api_key.name) <= 100 and create_api_key.name ~ '\S' and create_api_key.name !~ '[[:cntrl:]]') is not true then
        raise exception using
          errcode = 'DW007',
          message = format('A key cannot have the name %L.', left(create_api_key.name, 250)),
          hint = 'It has 1 to 100 characters, and is not blank.';
      end if;
      if create_api_key.expires_at <= clock_timestamp() then
        raise exception using errcode = 'DW007', message = 'The key would have expired.', hint = 'Pass a time in the future, or null.';
      end if;
      select i.api_key_prefix, i.key_self_service into prefix, may_create from {schema}.installation i where i.only_row;
      if not may_create then
        raise exception using
          errcode = 'DW008',
          message = 'Keys are created by operators only.',
          hint = 'An operator allows it again: `deedwire-operator database key-self-service on`.';
      end if;
      own := {schema}.lock_account_of_application(create_api_key.interface, create_api_key.account);
      select i.client_version into version from {schema}.interface i where i.name = own.interface;
      if prefix is null or version is null then
        raise exception using
          errcode = 'object_not_in_prerequisite_state',
          message = format('The database knows no current version of the interface %s.', own.interface),
          hint = 'Run `deedwire-operator database migrate`.';
      end if;

      perform {schema}.ensure_event_partition({schema}.new_record_id());
      perform set_config('deedwire.audit_claim', '{"application": "create_api_key"}', true);
      client_id := format('application_%s_%s', own.interface, own.id);
      insert into {schema}.api_client (account_id, interface, client_id, schema_version)
      values (own.id, own.interface, create_api_key.client_id, version)
      on conflict (client_id) do nothing;
      select c.id into client from {schema}.api_client c where c.client_id = create_api_key.client_id;
      if keys_max <= (
        select count(*)
        from {schema}.api_key k
        where k.api_client_id = client and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
      ) or daily_max <= (
        select count(*) from {schema}.api_key k where k.api_client_id = client and k.created_at > now() - interval '1 day'
      ) then
        raise exception using
          errcode = 'DW008',
          message = format('The account has %s keys of your application that are accepted, or %s of a day.', keys_max, daily_max),
          hint = 'Let an operator revoke those that are not used.';
      end if;
      new_key_id := {schema}.to_base62({schema}.random_number(), 12);
      api_key := format('%s_%s_%s_%s_', prefix, own.interface, new_key_id, {schema}.to_base62({schema}.random_number(), 43));
      api_key := api_key || {schema}.to_base62({schema}.checksum_of(api_key), 6);
      -- All bits are inverted, as of every key that lacks WRITE: storedHash() in packages/auth.
      insert into {schema}.api_key (key_id, api_client_id, interface, key_hash, name, abilities, expires_at)
      values (new_key_id, client, own.interface,
        decode(translate(encode(sha256(convert_to(create_api_key.api_key, 'UTF8')), 'hex'), '0123456789abcdef', 'fedcba9876543210'), 'hex'),
        create_api_key.name, given, create_api_key.expires_at);
      perform {schema}.append_key_event(new_key_id, 'api_key.created', '{"createdBy": null}');
      perform set_config('deedwire.audit_claim', coalesce(claim, ''), true);
      organization_id := {schema}.gid('Organization', own.organization_id::text);
    end
    $$;

    -- Creates a link to the portal of an account. Returns what follows the URL of the interface, such as https://api.example/customer/.
    create function create_portal_link(interface text, account text, actor text,
      abilities text[] default array['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE'], return_url text default null,
      expires_in_seconds int default 300) returns text
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    #variable_conflict use_column
    declare
      unused_max constant int := 100;
      claim constant text := current_setting('deedwire.audit_claim', true);
      given constant text[] := {schema}.abilities_of_application(create_portal_link.abilities);
      token constant text := translate(encode({schema}.random_bytes(), 'base64'), '+/=', '-_');
      own {schema}.account;
    begin
      if (char_length(create_portal_link.actor) between 1 and 100 and create_portal_link.actor !~ '[@\s[:cntrl:]]') is not true then
        raise exception using
          errcode = 'DW007',
          message = format('A link cannot have the actor %L.', left(create_portal_link.actor, 250)),
          hint = 'Pass an id of yours of 1 to 100 characters, no name and no address: what the audit log keeps cannot be erased.';
      end if;
      if (create_portal_link.return_url is null or char_length(create_portal_link.return_url) <= 2048
        and create_portal_link.return_url ~* '^https://[^/?#@\\\s[:cntrl:]]+([/?#][^\\\s[:cntrl:]]*)?$') is not true then
        raise exception using
          errcode = 'DW007',
          message = 'The link cannot have this URL to return to.',
          hint = 'It begins with https://, and has at most 2,048 characters, no user name, no password, no space and no backslash.';
      end if;
      if (create_portal_link.expires_in_seconds between 60 and 600) is not true then
        raise exception using
          errcode = 'DW007',
          message = format('The link cannot expire after %s seconds.', create_portal_link.expires_in_seconds),
          hint = 'It expires after 60 to 600 seconds.';
      end if;
      own := {schema}.lock_account_of_application(create_portal_link.interface, create_portal_link.account);
      if unused_max <= (
        select count(*) from {schema}.portal_session s where s.account_id = own.id and s.token_hash is null and s.expires_at > now()
      ) then
        raise exception using
          errcode = 'DW008',
          message = format('The account has %s links that were not opened and have not expired.', unused_max),
          hint = 'Create a link when a person opens it.';
      end if;
      perform set_config('deedwire.audit_claim', '{"application": "create_portal_link"}', true);
      insert into {schema}.portal_session (account_id, interface, abilities, actor, return_url, link_hash, expires_at)
      values (own.id, own.interface, given, create_portal_link.actor, create_portal_link.return_url, sha256(convert_to(token, 'UTF8')),
        now() + make_interval(secs => create_portal_link.expires_in_seconds));
      perform set_config('deedwire.audit_claim', coalesce(claim, ''), true);
      return format('portal/%s/#link=%s', own.organization_id, token);
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));

  -- As the entry of an account.
  definition := pg_get_functiondef(to_regproc('audit_portal_session'));
  if cardinality(string_to_array(definition, old_text)) <> 2 or cardinality(string_to_array(definition, 'claim := null;')) <> 2
    or cardinality(string_to_array(definition, 'operator constant text')) <> 2 then
    raise exception 'The function audit_portal_session is not that of an earlier migration.';
  end if;
  execute replace(replace(definition, 'operator constant text', format($$application constant text := case
        when has_function_privilege(session_user, '%I.create_account(text, text, text, text)', 'execute') then left(claim ->> 'application', 100)
      end;
      operator constant text$$, current_schema())), old_text, $$'application', application, $$ || old_text);
end
$do$;

revoke execute on function to_base62, random_bytes, random_number, checksum_of, lock_account_of_application, abilities_of_application,
  create_api_key, create_portal_link from public;
select for_applications('create_api_key(text, text, text, text[], timestamptz)');
select for_applications('create_portal_link(text, text, text, text[], text, int)');
