-- Which cell owns an account. A cell splits: its database is copied, and each side keeps a part of the accounts. Apps of earlier
-- releases do not read the table, and a change of theirs of an account that is away fails.

-- Numbers of cells end at 1023.
-- squawk-ignore-file prefer-bigint-over-smallint

-- No row: the account is at home. A row of the own cell that is not frozen says the same, and is deleted instead.
create table account_home (
  account_id bigint primary key references account,
  -- The cell that owns the account, or will.
  cell smallint not null constraint account_home_cell_bounds check (cell between 0 and 1023),
  -- Not null: the account leaves. Its changes are refused until the split ends or is aborted. From next_freeze().
  frozen_at timestamptz(3) constraint account_home_frozen_at_bounds check (frozen_at between '1970-01-01Z' and '9999-12-31Z')
);
create index account_home_frozen on account_home (frozen_at) where frozen_at is not null;

-- The accounts that no app may change, and unless they are frozen, may not be read either.
create view account_away as
select account_id, frozen_at is not null as is_frozen
from account_home
where frozen_at is not null or cell <> (select cell from installation);

grant select on account_home, account_away to lender_api, partner_api, webhook_worker, operator;

-- The last freeze that the worker has noticed and that left it nothing of the frozen accounts in flight or unrecorded.
alter table webhook_worker
  add column quiet_at timestamptz(3) constraint webhook_worker_quiet_at_bounds check (quiet_at between '1970-01-01Z' and '9999-12-31Z');

do $do$
declare
  change record;
  definition text;
begin
  execute replace($schema$
    -- The time of a new freeze, later than those that workers know, whatever the clock says. Freezing holds
    -- `lock table account_home in share update exclusive mode` from before this call to its commit, so that freezes take turns.
    create function next_freeze() returns timestamptz
    language sql volatile
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      select greatest(
        clock_timestamp(),
        (select max(frozen_at) + interval '1 ms' from {schema}.account_home),
        (select max(quiet_at) + interval '1 ms' from {schema}.webhook_worker)
      )::timestamptz(3)
    $$;

    -- Refuses accounts that are away, and lets check_home() know the others until the end of the transaction.
    --
    -- It must be volatile: its statement then takes its snapshot after its lock on account_home, which the transaction keeps. So a
    -- transaction has the lock when the freeze commits, and the freeze waits for its end, or it sees the freeze.
    create function check_homes(accounts bigint[]) returns boolean
    language plpgsql volatile
    security definer
    set search_path = pg_catalog, pg_temp
    -- A plan from when the table was empty must not read all of it.
    set enable_seqscan = off
    as $$
    declare
      away bigint;
      known text;
    begin
      -- At a higher level, the snapshot can be older than the lock.
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'An account is changed by a transaction that is read committed.' using errcode = 'insufficient_privilege';
      end if;
      select account_id into away from {schema}.account_away where account_id = any (accounts) limit 1;
      if found then
        raise exception using
          errcode = 'ZH001',
          message = format('The account %s is frozen, or at home in another cell.', away);
      end if;
      known := current_setting('deedwire.homes', true);
      -- A transaction of many accounts forgets the first ones, so that its last row costs as little.
      perform set_config('deedwire.homes', concat(case when length(known) < 1000 then known end, ',', array_to_string(accounts, ','), ','), true);
      return true;
    end
    $$;

    -- The trigger of every table that a change of an account writes. Its argument is the column that leads to the account.
    create function check_home() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      changed constant record := case when tg_op = 'DELETE' then old else new end;
      account bigint;
    begin
      case tg_argv[0]
        when 'id' then account := changed.id;
        when 'account_id' then account := changed.account_id;
        when 'api_client_id' then select account_id into account from {schema}.api_client where id = changed.api_client_id;
        when 'referral_id' then select account_id into account from {schema}.referral where id = changed.referral_id;
        when 'subscription_id' then select account_id into account from {schema}.webhook_subscription where id = changed.subscription_id;
      end case;
      perform {schema}.check_homes(array[account]);
      return changed;
    end
    $$;

    -- Lets the workers read the subscriptions of accounts that came home, as after a change: they have closed their lanes.
    create function offer_home() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      insert into {schema}.webhook_event_queue (account_id, interface, subscription_id)
      select s.account_id, s.interface, s.id
      from home h
      join {schema}.webhook_subscription s on s.account_id = h.account_id
      where not exists (select from {schema}.account_away a where a.account_id = h.account_id);
      return null;
    end
    $$;

    -- Lets the workers look for accounts that are frozen.
    create function notify_homes() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      notify deedwire_wake, 'homes';
      return null;
    end
    $$;

    -- The processes that may still send deliveries of accounts that were frozen at this time, or record their attempts. Freezing waits
    -- until there are none. A worker whose lease has expired is declared dead first: then it writes nothing, and sends nothing for
    -- longer than 5 seconds.
    create function webhook_unquiet_workers(since timestamptz) returns table (name text)
    language sql volatile
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      update {schema}.webhook_worker set alive = false where alive and leased_until < clock_timestamp();
      with ended as (
        -- The others have a statement that began while they were alive.
        select id from {schema}.webhook_worker where not alive for update skip locked
      )
      select w.name
      from {schema}.webhook_worker w
      where case when w.alive then w.quiet_at < since or w.quiet_at is null else w.id not in (select id from ended) end
      order by w.id
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));

  -- What is deleted by its age may be of another cell.
  for change in
    select *
    from (values
      ('delete_expired_idempotency_keys', $$where created_at < now() - interval '24 hours'$$,
        $$where created_at < now() - interval '24 hours' and not exists (select from {schema}.account_away a where a.account_id = idempotency_key.account_id and a.is_frozen)$$),
      ('delete_expired_portal_sessions', $$where expires_at < now() - interval '1 day'$$,
        $$where expires_at < now() - interval '1 day' and not exists (select from {schema}.account_away a where a.account_id = portal_session.account_id and a.is_frozen)$$),
      ('webhook_end_rotations', 'where rotation_ends_at is not null and ',
        'where not exists (select from {schema}.account_away a where a.account_id = webhook_subscription.account_id) and rotation_ends_at is not null and '),
      ('webhook_delete_unread_listeners', $$last_read_at < now() - interval '25 hours'$$,
        $$last_read_at < now() - interval '25 hours' and not exists (select from {schema}.account_away a where a.account_id = webhook_subscription.account_id)$$),
      ('webhook_forget_subscriptions', 's.deleted_at is not null',
        's.deleted_at is not null and not exists (select from {schema}.account_away a where a.account_id = s.account_id)'),
      ('webhook_erase_exchanges', 's.deleted_at is not null',
        's.deleted_at is not null and not exists (select from {schema}.account_away a where a.account_id = s.account_id)'),
      ('webhook_raise_alerts', $$raise exception 'The namespace % is not one of global identifiers.', gid_namespace;
      end if;$$, $$raise exception 'The namespace % is not one of global identifiers.', gid_namespace;
      end if;
      if exists (
        select from {schema}.webhook_subscription s join {schema}.account_away a on a.account_id = s.account_id where s.id = of_subscription
      ) then
        return raised;
      end if;$$),
      ('erase_person_events', '-- No index has the events of the queue',
        'perform {schema}.check_homes(array(select distinct account_id from {schema}.webhook_event where id = any (own)));
      -- No index has the events of the queue'),
      ('mark_erased_deliveries', 'update {schema}.webhook_delivery set erased_at',
        'perform {schema}.check_homes(array(select distinct account_id from {schema}.webhook_delivery where id = any (own)));
      update {schema}.webhook_delivery set erased_at'),
      ('end_erased_deliveries', 'with unsent as (',
        'perform {schema}.check_homes(array(select distinct account_id from {schema}.webhook_delivery where id = any (own)));
      with unsent as (')
    ) as changes (function_name, old_text, new_text)
  loop
    definition := pg_get_functiondef(to_regproc(change.function_name));
    change.old_text := replace(change.old_text, '{schema}', quote_ident(current_schema()));
    if strpos(definition, change.old_text) = 0 then
      raise exception 'The function % is not that of an earlier migration.', change.function_name;
    end if;
    execute replace(definition, change.old_text, replace(change.new_text, '{schema}', quote_ident(current_schema())));
  end loop;
end
$do$;

revoke execute on function next_freeze, check_homes, check_home, offer_home, notify_homes, webhook_unquiet_workers from public;
grant execute on function check_homes to lender_api, partner_api, operator;
grant execute on function webhook_unquiet_workers to operator;

create trigger offer_home after delete on account_home
  referencing old table as home
  for each statement execute function offer_home();
create trigger notify_homes after insert or update or delete on account_home
  for each statement execute function notify_homes();

-- A test compares these with the rights of the apps. The accounts that the transaction has checked cost little: most transactions
-- check theirs in one statement.
do $do$
declare
  guarded record;
begin
  for guarded in
    select *
    from (values
      ('account', 'update of name, webhook_listeners_forbidden_at', 'id'),
      ('team_member', 'insert or update', 'account_id'),
      ('team_member', 'delete', 'account_id'),
      ('api_client', 'insert or update', 'account_id'),
      ('api_key', 'insert or update of expires_at, revoked_at', 'api_client_id'),
      ('idempotency_key', 'insert or update', 'account_id'),
      ('portal_session', 'insert or update of token_hash, started_at, expires_at', 'account_id'),
      ('webhook_handshake_count', 'insert or update', 'account_id'),
      ('webhook_subscription', 'insert or update of callback_url, url_number, name, secret_ciphertext, next_secret_ciphertext, '
        || 'rotation_started_at, rotation_ends_at, send_pending_at, deleted_at', 'account_id'),
      ('webhook_subscription', 'delete', 'account_id'),
      ('webhook_subscription_event_type', 'insert', 'subscription_id'),
      ('webhook_subscription_event_type', 'delete', 'subscription_id'),
      ('referral', 'insert or update', 'account_id'),
      ('matter', 'insert', 'referral_id'),
      ('webhook_replay', 'insert or update of cancelled_at', 'account_id'),
      ('person_erasure', 'insert', 'account_id'),
      ('webhook_event_queue', 'insert', 'account_id')
    ) as guards (table_name, events, account_column)
  loop
    execute format('create trigger %I before %s on %I for each row %s execute function check_home(%L)',
      case guarded.events when 'delete' then 'check_home_of_deleted' else 'check_home' end, guarded.events, guarded.table_name,
      case when guarded.account_column in ('id', 'account_id') then format(
        $$when (coalesce(strpos(current_setting('deedwire.homes', true), ',' || %s.%I || ','), 0) = 0)$$,
        case guarded.events when 'delete' then 'old' else 'new' end, guarded.account_column
      ) end, guarded.account_column);
  end loop;
end
$do$;
