-- After a restore to an earlier time, the operator deletes again what owners have deleted since.
do $do$
begin
  execute replace($schema$
    -- Deletes a subscription as `deleteWebhookSubscription` does, without an entry of the audit log. Returns whether there was one.
    create function webhook_delete_subscription(subscription bigint) returns boolean
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      deleted record;
    begin
      update {schema}.webhook_subscription
      set deleted_at = now(), name = null, callback_url = '', secret_ciphertext = '', next_secret_ciphertext = null,
        rotation_started_at = null, rotation_ends_at = null
      where id = subscription and kind = 'PUSH' and deleted_at is null
      returning account_id, interface into deleted;
      if not found then
        return false;
      end if;
      delete from {schema}.webhook_subscription_event_type where subscription_id = subscription;
      update {schema}.idempotency_key
      set payload = null, secret_ciphertext = null, input_hash = '', record_deleted = true
      where account_id = deleted.account_id and mutation in ('createWebhookSubscription', 'rotateWebhookSecret')
        and record_id = subscription;
      insert into {schema}.webhook_event_queue (account_id, interface, subscription_id)
      values (deleted.account_id, deleted.interface, subscription);
      return true;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function webhook_delete_subscription from public;
grant execute on function webhook_delete_subscription to operator;
