-- The same for what the interfaces write.

-- No app writes the other columns: the database computes their values.
revoke insert on webhook_event from lender_api, partner_api, operator;
grant insert (id, account_id, interface, event_type, snapshot, request_id, is_test) on webhook_event
  to lender_api, partner_api, operator;
revoke insert on webhook_subscription_sequence from lender_api, partner_api;
grant insert (subscription_id, interface) on webhook_subscription_sequence to lender_api, partner_api;

-- In the order in which a request uses the tables.

-- A secret of 64 bytes has 94 characters; encrypted, with the longest id of a key, 155 bytes.
alter table idempotency_key
  add constraint idempotency_key_mutation_bounds check (octet_length(mutation) <= 100) not valid,
  add constraint idempotency_key_key_bounds check (octet_length(key) <= 64) not valid,
  add constraint idempotency_key_secret_ciphertext_bounds check (octet_length(secret_ciphertext) <= 155) not valid;

alter table referral
  add constraint referral_client_name_bounds check (char_length(client_name) <= 200) not valid,
  add constraint referral_client_email_bounds check (char_length(client_email) <= 254) not valid,
  add constraint referral_external_reference_bounds check (char_length(external_reference) <= 200) not valid,
  add constraint referral_note_bounds check (char_length(note) <= 5000) not valid,
  add constraint referral_decline_reason_bounds check (char_length(decline_reason) <= 1000) not valid,
  add constraint referral_created_at_bounds check (created_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint referral_closed_at_bounds check (closed_at between '1970-01-01Z' and '9999-12-31Z') not valid;

alter table webhook_subscription
  add constraint webhook_subscription_id_bounds check (id > 0) not valid,
  add constraint webhook_subscription_callback_url_bounds check (octet_length(callback_url) <= 2048) not valid,
  add constraint webhook_subscription_secret_ciphertext_bounds check (octet_length(secret_ciphertext) <= 155) not valid,
  add constraint webhook_subscription_next_secret_ciphertext_bounds
    check (octet_length(next_secret_ciphertext) <= 155) not valid,
  add constraint webhook_subscription_created_at_bounds
    check (created_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint webhook_subscription_paused_at_bounds
    check (paused_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint webhook_subscription_owner_paused_at_bounds
    check (owner_paused_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint webhook_subscription_deleted_at_bounds
    check (deleted_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint webhook_subscription_last_read_at_bounds
    check (last_read_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint webhook_subscription_rotation_started_at_bounds
    check (rotation_started_at between '1970-01-01Z' and '9999-12-31Z') not valid,
  add constraint webhook_subscription_rotation_ends_at_bounds
    check (rotation_ends_at between '1970-01-01Z' and '9999-12-31Z') not valid;

alter table webhook_subscription_event_type
  add constraint webhook_subscription_event_type_event_type_bounds check (octet_length(event_type) <= 100) not valid,
  add constraint webhook_subscription_event_type_event_version_bounds
    check (octet_length(event_version) <= 100) not valid;

-- The worker reads ids and sequences as positive numbers.
alter table webhook_replay
  add constraint webhook_replay_event_types_bounds
    check (cardinality(event_types) <= 100 and octet_length(array_to_string(event_types, '')) <= 10000) not valid,
  add constraint webhook_replay_per_second_bounds check (per_second <= 500) not valid,
  add constraint webhook_replay_from_id_bounds check (from_id >= 0) not valid,
  add constraint webhook_replay_until_id_bounds check (until_id > 0) not valid,
  add constraint webhook_replay_from_sequence_bounds check (from_sequence > 0) not valid,
  add constraint webhook_replay_until_sequence_bounds check (until_sequence > 0) not valid,
  add constraint webhook_replay_last_id_bounds check (last_id between -1 and 9223372036854775806) not valid,
  add constraint webhook_replay_cancelled_at_bounds
    check (cancelled_at between '1970-01-01Z' and '9999-12-31Z') not valid;

alter table webhook_event_queue
  add constraint webhook_event_queue_event_id_bounds check (event_id > 0) not valid,
  add constraint webhook_event_queue_subscription_id_bounds check (subscription_id > 0) not valid;

-- What no constraint can say: how many rows there are, and to whom a row belongs. Fan-out reads all subscriptions of an account with
-- all their event types.

do $do$
begin
  execute replace($schema$
    -- In place of webhook_check_new_listener(). After the insert, so that it counts all rows of the statement.
    create function webhook_check_new_subscription() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      noun constant text := case new.kind when 'LISTENER' then 'listeners' else 'subscriptions' end;
      rows_max constant int := case new.kind when 'LISTENER' then 10 else 20 end;
    begin
      -- It applies to the apps, and not to the owner of the database.
      if not row_security_active(tg_relid) then
        return null;
      end if;
      -- What a subscription has left behind can still name the id of one that is gone.
      if new.id < (floor(date_part('epoch', now()) * 1000)::bigint - 1767225600000 - 3600000) << 22 then
        raise exception 'The id % of a new subscription was drawn more than an hour ago.', new.id
          using errcode = 'insufficient_privilege';
      end if;
      -- With an earlier snapshot, transactions at the same time would not count each other's rows.
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'A subscription is created by a transaction that is read committed.'
          using errcode = 'insufficient_privilege';
      end if;
      -- That of lockSubscriptionsOfAccount() in packages/webhooks.
      perform pg_advisory_xact_lock(hashtextextended('webhook-subscriptions:' || new.account_id, 0));
      if (
        select count(*)
        from {schema}.webhook_subscription
        where account_id = new.account_id and kind = new.kind and deleted_at is null
      ) > rows_max then
        raise exception 'The account % may have % %.', new.account_id, rows_max, noun
          using errcode = 'insufficient_privilege';
      end if;
      if new.kind <> 'LISTENER' then
        return null;
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

    create function webhook_check_new_event_types() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      event_types_max constant int := 100;
      full_id bigint;
    begin
      if not row_security_active(tg_relid) then
        return null;
      end if;
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'Event types are added by a transaction that is read committed.'
          using errcode = 'insufficient_privilege';
      end if;
      -- Transactions at the same time count one after the other.
      perform from {schema}.webhook_subscription
      where id in (select subscription_id from added)
      order by id
      for no key update;
      select subscription_id into full_id
      from {schema}.webhook_subscription_event_type
      where subscription_id in (select subscription_id from added)
      group by subscription_id
      having count(*) > event_types_max
      limit 1;
      if found then
        raise exception 'The subscription % may have % event types.', full_id, event_types_max
          using errcode = 'insufficient_privilege';
      end if;
      return null;
    end
    $$;

    -- The worker sent a delivery of another account to the URL of the subscription, and its owner could not retry it. A foreign key
    -- would keep the partitions of deliveries from being dropped.
    create function webhook_check_new_replay() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      is_own boolean;
    begin
      if not row_security_active(tg_relid) then
        return new;
      end if;
      if not exists (
        select from {schema}.webhook_subscription where id = new.subscription_id and account_id = new.account_id
      ) then
        raise exception 'The account % has no subscription %.', new.account_id, new.subscription_id
          using errcode = 'insufficient_privilege';
      end if;
      if new.delivery_id is not null then
        -- Planned for the id, so that it locks one partition.
        execute 'select exists (select from {schema}.webhook_delivery where id = $1 and subscription_id = $2)'
          into is_own using new.delivery_id, new.subscription_id;
        if not is_own then
          raise exception 'The subscription % has no delivery %.', new.subscription_id, new.delivery_id
            using errcode = 'insufficient_privilege';
        end if;
      end if;
      return new;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function webhook_check_new_subscription, webhook_check_new_event_types, webhook_check_new_replay from public;

drop trigger check_new_listener on webhook_subscription;
drop function webhook_check_new_listener;
create trigger check_new_subscription after insert on webhook_subscription
  for each row execute function webhook_check_new_subscription();
create trigger check_new_event_types after insert on webhook_subscription_event_type
  referencing new table as added for each statement execute function webhook_check_new_event_types();
create trigger check_new_replay before insert on webhook_replay
  for each row execute function webhook_check_new_replay();
