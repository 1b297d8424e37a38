-- API keys that their owner creates, rotates and revokes with a key or in a session of the portal. Apps of the last release write none of
-- the new columns.

alter table api_key
  -- Null: an operator has issued the key without a name.
  add column name text,
  -- Null: the key is accepted from any address.
  add column addresses cidr[],
  -- The key, and of a session its actor, that created this one. Null: an operator. The key can be deleted.
  add column created_by_key text,
  add column created_by_actor text,
  -- The key that has replaced this one, which ends with the overlap. It can be deleted.
  add column replaced_by text,
  -- Written with `last_used_at`. Personal data: forget_ended_api_keys() deletes it.
  add column last_used_from inet,
  add column last_used_version text,
  -- When `api_key.expiring` was appended last. Null: never.
  add column expiry_reported_at timestamptz(3),
  add constraint api_key_name_bounds check (char_length(name) between 1 and 100) not valid,
  add constraint api_key_addresses_bounds check (
    array_ndims(addresses) = 1 and cardinality(addresses) between 1 and 20 and array_position(addresses, null) is null
  ) not valid,
  add constraint api_key_created_by_key_bounds check (octet_length(created_by_key) <= 100) not valid,
  add constraint api_key_created_by_actor_bounds check (char_length(created_by_actor) <= 100) not valid,
  add constraint api_key_replaced_by_bounds check (octet_length(replaced_by) <= 100) not valid,
  add constraint api_key_last_used_version_bounds check (octet_length(last_used_version) <= 100) not valid,
  add constraint api_key_expiry_reported_at_bounds
    check (expiry_reported_at between '1970-01-01Z' and '9999-12-31Z') not valid;

-- False: only an operator creates, rotates and revokes API keys.
alter table installation add column key_self_service boolean not null default true;
grant update (key_self_service) on installation to operator;
grant select (key_self_service) on installation to operator;

do $do$
declare
  change record;
  definition text;
begin
  execute replace($schema$
    -- Who changes the keys of a client, and what the keys that result can have at most. For functions of the owner. Names the actor in the
    -- entries of the audit log that follow in this transaction, where the transaction itself can only claim an address and a request.
    -- No row: the key or the session is not accepted, or lacks MANAGE_KEYS.
    create function acting_on_keys(acting_key text, acting_session bigint)
    returns table (api_client_id bigint, key_id text, portal_actor text, abilities text[], addresses cidr[], expires_at timestamptz)
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      claim constant jsonb := coalesce(nullif(current_setting('deedwire.audit_claim', true), '')::jsonb, '{}');
      session {schema}.portal_session;
      acting {schema}.api_key;
    begin
      if acting_session is not null then
        select * into session
        from {schema}.portal_session s
        where s.id = acting_session and s.token_hash is not null and s.expires_at > clock_timestamp()
          and s.last_used_at > clock_timestamp() - interval '30 minutes' and s.abilities @> array['MANAGE_KEYS'];
      end if;
      select * into acting
      from {schema}.api_key k
      where k.key_id = case when acting_session is null then acting_key else session.key_id end
        and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
        and k.abilities @> array['MANAGE_KEYS'] and pg_has_role(session_user, {schema}.role_of_interface(k.interface), 'member');
      if not found then
        return;
      end if;
      perform set_config('deedwire.audit_claim', jsonb_strip_nulls(jsonb_build_object(
        'address', claim -> 'address', 'requestId', claim -> 'requestId', 'client', c.client_id, 'keyId', acting.key_id,
        'portal', case when acting_session is not null then jsonb_build_object(
          -- The database knows no namespace.
          'sessionId', coalesce(substring(claim -> 'portal' ->> 'sessionId'
            from '^gid://[a-z][a-z0-9-]{0,99}/PortalSession/' || session.id || '$'), 'PortalSession/' || session.id), 'actor', session.actor, 'keyId', session.key_id) end
      ))::text, true)
      from {schema}.api_client c
      where c.id = coalesce(session.api_client_id, acting.api_client_id);
      return query select acting.api_client_id, acting.key_id, session.actor,
        case when acting_session is null then acting.abilities
          else array(select unnest(acting.abilities) intersect select unnest(session.abilities)) end,
        acting.addresses, acting.expires_at;
    end
    $$;

    -- Appends an event about a key to the outbox of its account, and returns the shard whose worker sends it. The data has the form of
    -- `EventSnapshots`.
    create function append_key_event(of_key text, type text, data jsonb) returns smallint
    language sql
    set search_path = pg_catalog, pg_temp
    as $$
      with event as (
        insert into {schema}.webhook_event (account_id, interface, event_type, snapshot, request_id)
        select c.account_id, c.interface, type, (data || jsonb_build_object('apiKey', jsonb_build_object(
          'id', k.key_id, 'name', k.name, 'abilities', k.abilities, 'expiresAt', {schema}.webhook_alert_time(k.expires_at)
        )))::json, left(nullif(current_setting('deedwire.audit_claim', true), '')::jsonb ->> 'requestId', 250)
        from {schema}.api_key k
        join {schema}.api_client c on c.id = k.api_client_id
        where k.key_id = of_key
        returning account_id, interface, id
      )
      insert into {schema}.webhook_event_queue (account_id, interface, event_id)
      select account_id, interface, id
      from event
      returning shard
    $$;

    -- Creates a key, or replaces one, as an operator or within what the acting key or session can give. A key that an owner replaces has
    -- the limits of the old one. Returns what is wrong, and then changes nothing; null if the key was created.
    create function issue_api_key(
      acting_key text, acting_session bigint, of_client bigint, replaced_key text, overlap_seconds int,
      new_key_id text, new_key_hash bytea, new_name text, new_abilities text[], new_addresses cidr[], new_expires_at timestamptz
    ) returns text
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      keys_max constant int := 5;
      daily_max constant int := 20;
      is_operator constant boolean := acting_key is null and acting_session is null and {schema}.session_is_operator();
      actor record;
      -- Of `actor`. Null: an operator.
      creator text;
      creator_of_session text;
      old {schema}.api_key;
      client bigint := of_client;
      created_by jsonb;
    begin
      if (new_key_id ~ '^[0-9A-Za-z]{12}$') is not true or new_key_hash is null or new_abilities is null
        or array_position(new_abilities, null) is not null or array_position(new_addresses, null) is not null
        or (replaced_key is null) <> (overlap_seconds is null) or overlap_seconds not between 0 and 2592000
        or not is_operator and replaced_key is null and new_name is null then
        raise exception 'The arguments of a key are invalid.' using errcode = 'invalid_parameter_value';
      end if;
      if not is_operator then
        select a.api_client_id into client from {schema}.acting_on_keys(acting_key, acting_session) a;
        if not found then
          return 'REFUSED';
        end if;
      end if;
      -- One after the other, so that the counts stay valid. What is read before can have changed meanwhile.
      perform from {schema}.api_client c where c.id = client for no key update;
      if not is_operator then
        if not (select key_self_service from {schema}.installation where only_row) then
          return 'KEY_SELF_SERVICE_OFF';
        end if;
        select * into actor from {schema}.acting_on_keys(acting_key, acting_session);
        if not found then
          return 'REFUSED';
        end if;
        creator := actor.key_id;
        creator_of_session := actor.portal_actor;
      end if;
      if replaced_key is not null then
        select * into old from {schema}.api_key k where k.key_id = replaced_key and k.api_client_id = client for no key update;
        if not found then
          return 'NOT_FOUND';
        end if;
        if old.revoked_at is not null or old.expires_at <= clock_timestamp() then
          return 'KEY_ENDED';
        end if;
        if not is_operator then
          new_name := old.name;
          new_abilities := old.abilities;
          new_addresses := old.addresses;
          new_expires_at := old.expires_at;
        end if;
      end if;
      if new_expires_at <= clock_timestamp() then
        return 'EXPIRY_INVALID';
      end if;
      if not is_operator then
        if not new_abilities <@ actor.abilities then
          return 'ABILITIES_INVALID';
        end if;
        if actor.addresses is not null and (new_addresses is null or exists (
          select from unnest(new_addresses) as a (network) where not network <<= any (actor.addresses)
        )) then
          return 'ADDRESSES_INVALID';
        end if;
        if new_expires_at > actor.expires_at or new_expires_at is null and actor.expires_at is not null then
          return 'EXPIRY_INVALID';
        end if;
        if daily_max <= (
          select count(*)
          from {schema}.api_key k
          where k.api_client_id = client and k.created_at > now() - interval '1 day' and k.created_by_key is not null
        ) then
          return 'DAILY_LIMIT_REACHED';
        end if;
      end if;
      if keys_max <= (
        select count(*)
        from {schema}.api_key k
        where k.api_client_id = client and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
          and (k.key_id is distinct from replaced_key or overlap_seconds > 0)
      ) then
        return 'LIMIT_REACHED';
      end if;
      if replaced_key is not null then
        -- The column rounds to milliseconds: without truncation, 0 seconds could be in the future. The owner knows of this end.
        update {schema}.api_key k
        set expires_at = least(k.expires_at, date_trunc('milliseconds', now()) + make_interval(secs => overlap_seconds)),
          replaced_by = new_key_id, expiry_reported_at = now()
        where k.key_id = replaced_key
        returning k.expires_at into old.expires_at;
      end if;
      insert into {schema}.api_key
        (key_id, api_client_id, interface, key_hash, name, abilities, addresses, expires_at, created_by_key, created_by_actor)
      select new_key_id, c.id, c.interface, new_key_hash, new_name, new_abilities, new_addresses, new_expires_at, creator,
        creator_of_session
      from {schema}.api_client c
      where c.id = client;
      if not is_operator then
        created_by := jsonb_build_object('apiKeyId', creator, 'portalActor', creator_of_session);
      end if;
      perform {schema}.append_key_event(new_key_id, case when replaced_key is null then 'api_key.created' else 'api_key.rotated' end,
        jsonb_build_object('createdBy', created_by) || case when replaced_key is null then '{}' else jsonb_build_object('replacedApiKey',
          jsonb_build_object('id', replaced_key, 'expiresAt', {schema}.webhook_alert_time(old.expires_at))) end);
      return null;
    end
    $$;

    -- Revokes a key. Returns why it was not; null if it was. Its owner does not revoke a key that has expired.
    create function revoke_api_key(acting_key text, acting_session bigint, revoked_key text) returns text
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      is_operator constant boolean := acting_key is null and acting_session is null and {schema}.session_is_operator();
      client bigint;
      old {schema}.api_key;
    begin
      if is_operator then
        select k.api_client_id into client from {schema}.api_key k where k.key_id = revoked_key;
      else
        select a.api_client_id into client from {schema}.acting_on_keys(acting_key, acting_session) a;
        if not found then
          return 'REFUSED';
        end if;
      end if;
      -- As in issue_api_key().
      perform from {schema}.api_client c where c.id = client for no key update;
      if not is_operator then
        if not (select key_self_service from {schema}.installation where only_row) then
          return 'KEY_SELF_SERVICE_OFF';
        end if;
        perform from {schema}.acting_on_keys(acting_key, acting_session);
        if not found then
          return 'REFUSED';
        end if;
      end if;
      select * into old from {schema}.api_key k where k.key_id = revoked_key and k.api_client_id = client for no key update;
      if not found then
        return 'NOT_FOUND';
      end if;
      if old.revoked_at is not null or not is_operator and old.expires_at <= clock_timestamp() then
        return 'KEY_ENDED';
      end if;
      -- A key that is replaced ends soon.
      if not is_operator and old.abilities @> array['MANAGE_KEYS'] and old.replaced_by is null and not exists (
        select
        from {schema}.api_key k
        where k.api_client_id = client and k.key_id <> revoked_key and k.abilities @> array['MANAGE_KEYS']
          and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp()) and k.replaced_by is null
      ) then
        return 'LAST_KEY';
      end if;
      update {schema}.api_key k set revoked_at = now() where k.key_id = revoked_key returning k.revoked_at into old.revoked_at;
      perform {schema}.append_key_event(revoked_key, 'api_key.revoked',
        jsonb_build_object('revokedAt', {schema}.webhook_alert_time(old.revoked_at)));
      return null;
    end
    $$;

    -- The address of the last use is kept while the key is accepted, at most.
    create function forget_address_of_use() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      new.last_used_from := null;
      return new;
    end
    $$;

    -- Deletes up to `batch` keys that ended 90 days ago, and the addresses of the last uses of up to `batch` keys that have ended or were
    -- not used for 90 days. Returns the larger number. Deletes no key of an account that is at home elsewhere or about to leave.
    create function forget_ended_api_keys(batch int) returns bigint
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      kept_for constant interval := '90 days';
      deleted bigint;
      forgotten bigint;
    begin
      with ended as (
        select k.key_id
        from {schema}.api_key k
        join {schema}.api_client c on c.id = k.api_client_id
        where least(k.revoked_at, k.expires_at) < now() - kept_for
          and not exists (select from {schema}.portal_session s where s.key_id = k.key_id)
          and not exists (select from {schema}.account_away w where w.account_id = c.account_id)
        order by least(k.revoked_at, k.expires_at)
        limit batch
        for update of k skip locked
      )
      delete from {schema}.api_key k using ended e where k.key_id = e.key_id;
      get diagnostics deleted = row_count;
      with unused as (
        select key_id
        from {schema}.api_key
        where last_used_from is not null and (last_used_at < now() - kept_for or expires_at <= now())
        limit batch
        for update skip locked
      )
      update {schema}.api_key k set last_used_from = null from unused u where k.key_id = u.key_id;
      get diagnostics forgotten = row_count;
      return greatest(deleted, forgotten);
    end
    $$;

    -- Appends `api_key.expiring` 30 days, 7 days and a day before the end of a key, of those after its creation, for up to `batch` keys.
    -- Returns the shards whose workers have events to send, once for each event.
    create function report_expiring_api_keys(batch int) returns setof smallint
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      with due as (
        select k.key_id
        from {schema}.api_key k
        join {schema}.api_client c on c.id = k.api_client_id
        where least(k.revoked_at, k.expires_at) > now() and least(k.revoked_at, k.expires_at) <= now() + interval '30 days'
          and k.revoked_at is null
          and exists (
            select
            from unnest(array[interval '30 days', interval '7 days', interval '1 day']) as notice
            where k.expires_at - notice <= now() and k.expires_at - notice > k.created_at
              and (k.expiry_reported_at is null or k.expiry_reported_at < k.expires_at - notice)
          )
          and not exists (select from {schema}.account_away w where w.account_id = c.account_id)
        order by least(k.revoked_at, k.expires_at)
        limit batch
        for update of k skip locked
      ), reported as (
        update {schema}.api_key k
        set expiry_reported_at = now()
        from due
        where k.key_id = due.key_id
        returning k.key_id
      )
      select {schema}.append_key_event(key_id, 'api_key.expiring', '{}')
      from reported
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));

  for change in
    select *
    from (values
      -- acting_on_keys() names the client of a key that changes.
      ('audit_change', $$coalesce(claim ->> 'actor', '') = '' or not {schema}.session_is_operator()$$,
        $$(tg_table_name <> 'api_key' or claim ->> 'client' is null)
          and (coalesce(claim ->> 'actor', '') = '' or not {schema}.session_is_operator())$$),
      ('audit_change', $$case when claim is not null then 'OPERATOR' end, left(claim ->> 'actor', 250)$$,
        $$case when claim ->> 'client' is not null then 'CLIENT' when claim is not null then 'OPERATOR' end,
            left(coalesce(claim ->> 'client', claim ->> 'actor'), 250)$$),
      ('audit_change', $$if claim ->> 'command' is not null then$$,
        $$if claim ->> 'client' is not null then
          details := details || jsonb_strip_nulls(jsonb_build_object('keyId', claim -> 'keyId', 'portal', claim -> 'portal'));
        end if;
        if claim ->> 'command' is not null then$$),
      ('audit_change', $$key <> 'last_used_at'$$,
        $$key not in ('last_used_at', 'last_used_from', 'last_used_version', 'expiry_reported_at', 'replaced_by')$$),
      -- A rotation by an app that does not know addresses.
      ('check_api_key', $$if new.abilities <> array['WRITE', 'CONFIGURE', 'OPERATE', 'READ_PAYLOAD', 'READ'] then$$,
        $$if new.addresses is null and exists (
        select
        from {schema}.api_key k
        where k.api_client_id = new.api_client_id and k.addresses is not null and k.xmin = pg_current_xact_id()::xid
      ) then
        raise exception 'The key has addresses, which this release does not know. Rotate it with the release that issued it.'
          using errcode = 'insufficient_privilege';
      end if;
      if new.abilities is distinct from array['WRITE', 'CONFIGURE', 'OPERATE', 'READ_PAYLOAD', 'READ'] then$$)
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

revoke execute on function acting_on_keys, append_key_event, issue_api_key, revoke_api_key, forget_address_of_use, forget_ended_api_keys,
  report_expiring_api_keys from public;
grant execute on function forget_ended_api_keys, report_expiring_api_keys to webhook_worker;
grant execute on function issue_api_key, revoke_api_key to operator;
do $$
declare
  app text;
begin
  for app in select role_of_interface(name) from interface loop
    execute format('grant execute on function issue_api_key, revoke_api_key to %I', app);
    execute format('grant update (last_used_from, last_used_version) on api_key to %I', app);
  end loop;
end
$$;

create trigger forget_address_of_use before update on api_key
  for each row when (new.last_used_from is not null and (new.revoked_at is not null or new.expires_at <= now()))
  execute function forget_address_of_use();
-- All columns except those of the last use, `expiry_reported_at` and `replaced_by`, which the entry of the new key implies.
create or replace trigger audit_update
  after update of key_id, api_client_id, interface, key_hash, created_at, expires_at, revoked_at, abilities, name, addresses,
    created_by_key, created_by_actor on api_key
  for each row when (old.* is distinct from new.*) execute function audit_change();
