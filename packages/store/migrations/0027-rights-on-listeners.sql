-- What a stolen login of an interface could do with listeners, and no app does: make one a subscription that is sent, exceed the
-- limit of its account, restore a deleted one, or move its expiry. The statements of apps of the last release do none of this.

-- The other columns of a subscription never change.
revoke update on webhook_subscription from lender_api, partner_api;
grant update (callback_url, url_number, secret_ciphertext, next_secret_ciphertext, rotation_started_at, rotation_ends_at,
    paused_reason, paused_at, owner_paused_at, deleted_at, last_read_at)
  on webhook_subscription to lender_api, partner_api;

do $do$
begin
  execute replace($schema$
    -- After the insert, so that it counts all listeners of the statement.
    create function webhook_check_new_listener() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      listeners_max constant int := 10;
    begin
      -- It applies to the apps, and not to the owner of the database.
      if not row_security_active(tg_relid) then
        return null;
      end if;
      -- With an earlier snapshot, transactions at the same time would not count each other's listeners.
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'A listener is created by a transaction that is read committed.' using errcode = 'insufficient_privilege';
      end if;
      -- That of lockSubscriptionsOfAccount() in packages/webhooks.
      perform pg_advisory_xact_lock(hashtextextended('webhook-subscriptions:' || new.account_id, 0));
      if (
        select count(*)
        from {schema}.webhook_subscription
        where account_id = new.account_id and kind = 'LISTENER' and deleted_at is null
      ) > listeners_max then
        raise exception 'The account % may have % listeners.', new.account_id, listeners_max
          using errcode = 'insufficient_privilege';
      end if;
      if exists (
        select from {schema}.account where id = new.account_id and webhook_listeners_forbidden_at is not null
      ) then
        raise exception 'The account % may have no listeners.', new.account_id using errcode = 'insufficient_privilege';
      end if;
      -- The column rounds.
      if new.last_read_at > now() + interval '1 second' then
        raise exception 'A listener cannot be read in the future.' using errcode = 'insufficient_privilege';
      end if;
      return null;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

create function webhook_check_changed_listener() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not row_security_active(tg_relid) then
    return new;
  end if;
  if old.deleted_at is not null and new.deleted_at is null then
    raise exception 'The subscription % is deleted.', old.id using errcode = 'insufficient_privilege';
  end if;
  if new.last_read_at < old.last_read_at or new.last_read_at > now() + interval '1 second' then
    raise exception 'The last read of the listener % was not at %.', old.id, new.last_read_at
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

revoke execute on function webhook_check_new_listener, webhook_check_changed_listener from public;

create trigger check_new_listener after insert on webhook_subscription
  for each row when (new.kind = 'LISTENER') execute function webhook_check_new_listener();
create trigger check_changed_listener before update of deleted_at, last_read_at on webhook_subscription
  for each row execute function webhook_check_changed_listener();
