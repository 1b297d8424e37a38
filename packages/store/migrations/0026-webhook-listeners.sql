-- Listeners: subscriptions whose deliveries are numbered and stored, but never sent. Their owners read them with `webhookEvents`.
--
-- Apps of the last release take a listener for a subscription without a URL that its owner has paused. They number and store its
-- deliveries too, keep them pending, and send none. What would make them send fails: they cannot resume it, and they cannot give
-- it a URL or a secret.

alter table webhook_subscription
  add column kind text not null default 'PUSH' check (kind in ('PUSH', 'LISTENER')),
  -- Written at most once an hour. Null unless the row is a listener.
  add column last_read_at timestamptz(3),
  -- `VERSION_RETIRED` can replace `OWNER`.
  add constraint webhook_listener_is_never_sent check (
    case kind
      when 'LISTENER' then
        last_read_at is not null and paused_reason is not null and callback_url = '' and secret_ciphertext = ''
          and next_secret_ciphertext is null
      else last_read_at is null
    end
  );

-- Serves webhook_delete_unread_listeners(). Few rows.
create index webhook_listener_by_last_read on webhook_subscription (last_read_at)
  where kind = 'LISTENER' and deleted_at is null;

do $do$
begin
  execute replace($schema$
    -- Deletes a listener as `deleteWebhookListener` does, without an entry of the audit log. Returns whether there was one.
    create function webhook_delete_listener(listener bigint) returns boolean
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      deleted record;
    begin
      update {schema}.webhook_subscription
      set deleted_at = now()
      where id = listener and kind = 'LISTENER' and deleted_at is null
      returning account_id, interface into deleted;
      if not found then
        return false;
      end if;
      delete from {schema}.webhook_subscription_event_type where subscription_id = listener;
      update {schema}.idempotency_key
      set payload = null, secret_ciphertext = null, input_hash = '', record_deleted = true
      where account_id = deleted.account_id and mutation = 'createWebhookListener' and record_id = listener;
      insert into {schema}.webhook_event_queue (account_id, interface, subscription_id)
      values (deleted.account_id, deleted.interface, listener);
      return true;
    end
    $$;

    -- Deletes up to `batch` listeners that were not read for 24 hours, and returns the account of each. A read is noted at most
    -- once an hour, so the last one can be an hour later than the noted one.
    create function webhook_delete_unread_listeners(batch int) returns setof bigint
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set timezone = 'UTC'
    as $$
    declare
      unread record;
    begin
      for unread in
        select id, account_id, interface, last_read_at
        from {schema}.webhook_subscription
        where kind = 'LISTENER' and deleted_at is null and last_read_at < now() - interval '25 hours'
        order by last_read_at
        limit batch
        for no key update skip locked
      loop
        perform {schema}.webhook_delete_listener(unread.id);
        insert into {schema}.audit_entry (transaction_id, action, subject, account_id, interface, details)
        values (
          pg_current_xact_id(), 'webhook_listener.expire',
          -- The namespace of global identifiers is known to the apps only.
          'WebhookListener/' || unread.id, unread.account_id, unread.interface,
          jsonb_build_object('lastReadAt', unread.last_read_at)
        );
        return next unread.account_id;
      end loop;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function webhook_delete_listener, webhook_delete_unread_listeners from public;
grant execute on function webhook_delete_listener to operator;
grant execute on function webhook_delete_unread_listeners to webhook_worker;

-- Since when the account may create no listeners. Null if it may.
alter table account add column webhook_listeners_forbidden_at timestamptz(3);
grant update (webhook_listeners_forbidden_at) on account to operator;
