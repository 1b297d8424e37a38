-- Every change of an account, an API client or an API key writes its entry of the audit log, whoever makes it.

-- In the order in which the apps use the tables, so that no transaction waits for this one while this one waits for it.
lock table account, api_client, api_key in share row exclusive mode;
lock table audit_entry in access exclusive mode;

-- Set in entries that a trigger wrote, whose login, action, subject and values are facts. Null in entries of apps. No app has
-- the right to set it.
alter table audit_entry add column transaction_id xid8;
-- Both are null if nobody has named himself: then only the login is known.
alter table audit_entry alter column actor_type drop not null, alter column actor drop not null;

-- An entry can be read and exported whatever a login has put into it. New entries only: the rows of earlier releases stay.
alter table audit_entry add constraint audit_entry_is_readable check (
  action ~ '^[a-z_]+\.[a-z_-]+$' and octet_length(action) <= 100 and octet_length(subject) <= 1000
  and octet_length(coalesce(actor, '')) <= 1000 and octet_length(coalesce(address, '')) <= 1000
  and octet_length(coalesce(request_id, '')) <= 1000
  and jsonb_typeof(details) = 'object' and octet_length(details::text) <= 40000
) not valid;

-- The columns that change. Locking a row requires the right to change one of them.
revoke update on account, api_client, api_key from operator;
grant update (name) on account to operator;
grant update (schema_version, cost_maximum, cost_restore_rate) on api_client to operator;
grant update (expires_at, revoked_at) on api_key to operator;

-- Each function names the schema of every object, and trusts no other schema than that of PostgreSQL: a role that may create
-- objects could otherwise have its own run with the rights of the owner.
do $do$
declare
  statement text;
begin
  foreach statement in array array[
    -- Writes the entry of a change. The transaction can set `deedwire.audit_claim` to a JSON object with `actor`, `address`,
    -- `requestId` and `command`, which are claims of the client. `details` contains the client id of a key, the command, and
    -- the first 250 characters of the changed columns, as text, by column name: `old` except for an insert, `new` except for a deletion.
    $sql$
      create function {schema}.audit_change() returns trigger
      language plpgsql
      security definer
      set search_path = pg_catalog, pg_temp
      set timezone = 'UTC'
      as $function$
      declare
        old_row constant jsonb := case when tg_op = 'INSERT' then '{}' else to_jsonb(old) end;
        new_row constant jsonb := case when tg_op = 'DELETE' then '{}' else to_jsonb(new) end;
        this_row constant jsonb := case when tg_op = 'DELETE' then old_row else new_row end;
        claim jsonb := nullif(current_setting('deedwire.audit_claim', true), '');
        old_values jsonb;
        new_values jsonb;
        noun text;
        verb text;
        subject text;
        account_id bigint;
        details jsonb := '{}';
      begin
        select jsonb_object_agg(key, case when key = 'key_hash' then 'hidden' else left(o.value, 250) end),
          jsonb_object_agg(key, case when key = 'key_hash' then 'hidden' else left(n.value, 250) end)
        into old_values, new_values
        from jsonb_each_text(old_row) o
        full join jsonb_each_text(new_row) n using (key)
        where o.value is distinct from n.value and key <> 'last_used_at';
        if old_values is null then
          return null;
        end if;

        case tg_table_name
          when 'account' then
            noun := this_row ->> 'interface';
            -- The namespace of global identifiers is known to the apps only.
            subject := initcap(noun) || '/' || (this_row ->> 'id');
            -- An entry cannot refer to an account that is gone.
            account_id := new_row ->> 'id';
          when 'api_client' then
            noun := 'client';
            subject := this_row ->> 'client_id';
            account_id := this_row ->> 'account_id';
          when 'api_key' then
            noun := 'credential';
            subject := this_row ->> 'key_id';
            select c.account_id, jsonb_build_object('clientId', left(c.client_id, 250))
            into account_id, details
            from {schema}.api_client c
            where c.id = (this_row ->> 'api_client_id')::bigint;
        end case;
        verb := case
          when tg_op = 'INSERT' and noun = 'credential' then 'issue'
          when tg_op = 'INSERT' then 'create'
          when tg_op = 'DELETE' then 'delete'
          when new_values ? 'revoked_at' then 'revoke'
          when new_values - 'expires_at' = '{}' then 'expire'
          when new_values - 'schema_version' = '{}' then 'pin'
          when new_values - array['cost_maximum', 'cost_restore_rate'] = '{}' then 'set-limit'
          else 'update'
        end;

        if coalesce(claim ->> 'actor', '') = '' then
          claim := null;
        end if;
        if claim ->> 'command' is not null then
          details := details || jsonb_build_object('command', left(claim ->> 'command', 100));
        end if;
        if tg_op <> 'INSERT' then
          details := details || jsonb_build_object('old', old_values);
        end if;
        if tg_op <> 'DELETE' then
          details := details || jsonb_build_object('new', new_values);
        end if;
        insert into {schema}.audit_entry
          (transaction_id, actor_type, actor, address, request_id, action, subject, account_id, interface, details)
        values
          (pg_current_xact_id(), case when claim is not null then 'OPERATOR' end, left(claim ->> 'actor', 250),
            left(claim ->> 'address', 250), left(claim ->> 'requestId', 250), noun || '.' || verb, left(subject, 250), account_id,
            case when account_id is not null then (this_row ->> 'interface')::{schema}.interface_name end, details);
        return null;
      end
      $function$
    $sql$,

    -- Replaces an entry that an app writes about these tables, as the previous release of the operator's commands does: its
    -- claims go to the entries that the triggers wrote in this transaction for nobody. Nothing else of it is stored, so that
    -- an app can neither invent a change nor change what a trigger wrote.
    $sql$
      create function {schema}.merge_audit_claim() returns trigger
      language plpgsql
      security definer
      set search_path = pg_catalog, pg_temp
      as $function$
      begin
        update {schema}.audit_entry
        set actor_type = 'OPERATOR', actor = left(new.actor, 250), address = left(new.address, 250),
          request_id = left(new.request_id, 250), details = details || jsonb_build_object('command', left(new.action, 100))
        where at = now()::timestamptz(3) and transaction_id = pg_current_xact_id() and actor is null and new.actor is not null;
        return null;
      end
      $function$
    $sql$,

    $sql$
      create function {schema}.keep_revocation() returns trigger
      language plpgsql
      set search_path = pg_catalog, pg_temp
      as $function$
      begin
        raise exception using
          errcode = 'integrity_constraint_violation',
          message = format('The key %s has been revoked since %s. A revocation can neither be undone nor moved. Issue another key.',
            old.key_id, old.revoked_at);
      end
      $function$
    $sql$,

    'revoke execute on function {schema}.audit_change, {schema}.merge_audit_claim, {schema}.keep_revocation from public',

    'create trigger audit_insert_or_delete after insert or delete on {schema}.account
      for each row execute function {schema}.audit_change()',
    'create trigger audit_update after update on {schema}.account
      for each row when (old.* is distinct from new.*) execute function {schema}.audit_change()',

    'create trigger audit_insert_or_delete after insert or delete on {schema}.api_client
      for each row execute function {schema}.audit_change()',
    'create trigger audit_update after update on {schema}.api_client
      for each row when (old.* is distinct from new.*) execute function {schema}.audit_change()',

    'create trigger audit_insert_or_delete after insert or delete on {schema}.api_key
      for each row execute function {schema}.audit_change()',
    -- All columns except `last_used_at`, which the APIs set while they serve requests.
    'create trigger audit_update
      after update of key_id, api_client_id, interface, key_hash, created_at, expires_at, revoked_at on {schema}.api_key
      for each row when (old.* is distinct from new.*) execute function {schema}.audit_change()',
    'create trigger keep_revocation before update of revoked_at on {schema}.api_key
      for each row when (old.revoked_at is distinct from new.revoked_at and old.revoked_at is not null)
      execute function {schema}.keep_revocation()',

    $sql$
      create trigger merge_audit_claim before insert on {schema}.audit_entry
      for each row when (new.transaction_id is null and new.action ~ '^(lender|partner|client|credential)\.')
      execute function {schema}.merge_audit_claim()
    $sql$
  ] loop
    execute replace(statement, '{schema}', quote_ident(current_schema()));
  end loop;
end
$do$;
