-- Erases what is kept of a person, for `deedwire-operator person erase`. Workers of the last release send no delivery without a
-- payload: their alarm names those that are being erased. APIs of the last release show erased deliveries as FAILED, and end a page of
-- `webhookEvents` before one.

-- Since when the payload is erased, whatever the status. Null: it is not.
alter table webhook_delivery add column erased_at timestamptz(3);
-- The delivery was erased before it was delivered: it is EXPIRED. 0053 builds an index of them.
alter table webhook_failed_delivery add column is_erased boolean not null default false;

-- The records whose person is being erased. A row is deleted when nothing is left to erase, so an interrupted command finds it.
create table person_erasure (
  record_type text not null
    constraint person_erasure_record_type_bounds check (record_type in ('TeamMember', 'Referral')),
  record_id bigint not null,
  account_id bigint not null,
  interface interface_name not null,
  started_at timestamptz(3) not null default now(),
  primary key (record_type, record_id),
  foreign key (account_id, interface) references account (id, interface)
);
create index person_erasure_by_account on person_erasure (account_id);

alter table person_erasure enable row level security;
create policy operator on person_erasure for select to operator using (true);
grant select on person_erasure to operator;

do $do$
begin
  execute replace($schema$
    -- The saved results that contain a referral. Without an index of the records, so it reads those of its time.
    create function person_results(of_record_type text, of_record_id bigint)
    returns setof {schema}.idempotency_key
    language sql stable
    set search_path = pg_catalog, pg_temp
    as $$
      select k.*
      from {schema}.referral r
      join {schema}.idempotency_key k on k.account_id = r.account_id and k.mutation = 'createReferral'
        and k.created_at between r.created_at - interval '1 minute' and r.created_at + interval '1 minute'
      where of_record_type = 'Referral' and r.id = of_record_id and k.payload ->> 'id' like '%/Referral/' || r.id
    $$;

    -- The addresses of the next 5,000 records of a type, in the order of their ids, and the last id, or null if there are no further
    -- ones. PostgreSQL would compare addresses by the rules of its locale.
    create function person_addresses(of_record_type text, after bigint) returns jsonb
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      with part as materialized (
        (select id, account_id, email as address from {schema}.team_member
          where of_record_type = 'TeamMember' and id > after order by id limit 5000)
        union all
        (select id, account_id, client_email from {schema}.referral
          where of_record_type = 'Referral' and id > after order by id limit 5000)
      )
      select jsonb_build_object(
        'readTo', case when count(*) = 5000 then max(id)::text end,
        'rows', coalesce(
          jsonb_agg(jsonb_build_object('type', of_record_type, 'id', id::text, 'accountId', account_id::text, 'address', address))
            filter (where address is not null),
          '[]'
        )
      )
      from part
    $$;

    -- The row of a record: its account, whether it is erased, and how many saved results contain it. Null if there is none.
    create function person_row(of_record_type text, of_record_id bigint) returns jsonb
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      select jsonb_build_object(
        'accountId', account_id::text, 'isErased', name = 'erased-' || of_record_id,
        'savedResults', (select count(*) from {schema}.person_results(of_record_type, of_record_id))
      )
      from (
        select account_id, first_name as name from {schema}.team_member where of_record_type = 'TeamMember' and id = of_record_id
        union all
        select account_id, client_name from {schema}.referral where of_record_type = 'Referral' and id = of_record_id
      ) r
    $$;

    -- Begins to erase the person of a record, whose row can be gone, and replaces what identifies in the row. The placeholders are
    -- those of `placeholderOf()` in packages/domain. Writes an entry of the audit log, for which the transaction can set
    -- `deedwire.audit_claim` as for audit_change().
    create function begin_person_erasure(of_record_type text, of_record_id bigint, of_account_id bigint) returns void
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      claim jsonb := nullif(current_setting('deedwire.audit_claim', true), '');
      placeholder constant text := 'erased-' || of_record_id;
    begin
      insert into {schema}.person_erasure (record_type, record_id, account_id, interface)
      select of_record_type, of_record_id, id, interface
      from {schema}.account
      where id = of_account_id and interface::text = case of_record_type when 'TeamMember' then 'lender' else 'partner' end
      on conflict do nothing;
      if found then
        if coalesce(claim ->> 'actor', '') = '' then
          claim := null;
        end if;
        insert into {schema}.audit_entry
          (transaction_id, actor_type, actor, address, request_id, action, subject, account_id, interface, details)
        select pg_current_xact_id(), case when claim is not null then 'OPERATOR' end, left(claim ->> 'actor', 250),
          left(claim ->> 'address', 250), left(claim ->> 'requestId', 250), 'person.erase', of_record_type || '/' || of_record_id,
          id, interface, jsonb_strip_nulls(jsonb_build_object('command', left(claim ->> 'command', 100)))
        from {schema}.account
        where id = of_account_id;
      end if;
      -- A key can contain the address. Its client must not create the referral again with one that does not.
      delete from {schema}.idempotency_key k
      using {schema}.person_results(of_record_type, of_record_id) r
      where (k.account_id, k.mutation, k.key) = (r.account_id, r.mutation, r.key)
        and strpos(lower(k.key), lower(r.payload ->> 'clientEmail')) > 0;
      update {schema}.idempotency_key k
      set payload = null, secret_ciphertext = null, input_hash = '', record_deleted = true
      from {schema}.person_results(of_record_type, of_record_id) r
      where (k.account_id, k.mutation, k.key) = (r.account_id, r.mutation, r.key);
      if of_record_type = 'TeamMember' then
        update {schema}.team_member
        set first_name = placeholder, last_name = placeholder, email = placeholder || '@erased.invalid'
        where id = of_record_id and account_id = of_account_id and email <> placeholder || '@erased.invalid';
      else
        update {schema}.referral
        set client_name = placeholder, client_email = null, external_reference = null, note = null, decline_reason = null
        where id = of_record_id and account_id = of_account_id and client_name <> placeholder;
      end if;
    end
    $$;

    -- Whether the person of an event, or of a delivery, is being erased. The record is null if an app of an early release wrote it.
    create function is_of_erased_person(of_account_id bigint, of_event_type text, of_record_id bigint, snapshot json) returns boolean
    language sql stable
    set search_path = pg_catalog, pg_temp
    as $$
      select exists (
        select
        from {schema}.person_erasure p
        where p.account_id = of_account_id
          and split_part(of_event_type, '.', 1) = case p.record_type when 'TeamMember' then 'team_member' else 'referral' end
          and (
            of_record_id = p.record_id
            or snapshot -> case p.record_type when 'TeamMember' then 'teamMember' else 'referral' end ->> 'id'
              like '%/' || p.record_type || '/' || p.record_id
            -- It was erased before.
            or snapshot::text = '{}'
          )
      )
    $$;

    -- Erases events, which no build can render then, and what waits for fan-out. A round that has read an entry
    -- of the queue either commits before, or finds it deleted and writes nothing. Returns how many events had something to erase.
    create function erase_person_events(of_events bigint[]) returns bigint
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      events_max constant int := 1000;
      own bigint[];
      erased bigint;
    begin
      if cardinality(of_events) > events_max then
        raise exception 'At most % events are erased at once, not %.', events_max, cardinality(of_events);
      end if;
      select array_agg(e.id order by e.id) into own
      from unnest(of_events) as wanted (id)
      cross join lateral (select * from {schema}.webhook_event where id = wanted.id limit 1) e
      where {schema}.is_of_erased_person(e.account_id, e.event_type, e.record_id, e.snapshot);
      -- No index has the events of the queue, so this reads the entries of the accounts. Again for what a round has deferred that the
      -- first one waited for.
      for attempt in 1..2 loop
        delete from {schema}.webhook_event_queue q
        using (select distinct account_id from {schema}.person_erasure) p
        where q.shard = (p.account_id & 63)::smallint and q.account_id = p.account_id and q.event_id = any (own);
      end loop;
      update {schema}.webhook_event set snapshot = '{}' where id = any (own) and snapshot::text <> '{}';
      get diagnostics erased = row_count;
      return erased;
    end
    $$;

    -- Marks deliveries as erased, and deletes the payloads of their events. Those that are pending have no size then, so that their
    -- worker does not miss the payload. Returns how many were not marked.
    create function mark_erased_deliveries(of_deliveries bigint[]) returns bigint
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      deliveries_max constant int := 1000;
      own bigint[];
      subscriptions bigint[];
      events bigint[];
      marked bigint;
    begin
      if cardinality(of_deliveries) > deliveries_max then
        raise exception 'At most % deliveries are erased at once, not %.', deliveries_max, cardinality(of_deliveries);
      end if;
      select array_agg(d.id order by d.id), array_agg(distinct d.subscription_id), array_agg(distinct d.event_id)
      into own, subscriptions, events
      from {schema}.webhook_delivery d
      where d.id = any (of_deliveries)
        and {schema}.is_of_erased_person(d.account_id, d.event_type, d.record_id,
          (select e.snapshot from {schema}.webhook_event e where e.id = d.event_id limit 1));
      update {schema}.webhook_delivery set erased_at = now() where id = any (own) and erased_at is null;
      get diagnostics marked = row_count;
      update {schema}.webhook_pending_delivery
      set body_bytes = 0
      where subscription_id = any (subscriptions) and delivery_id = any (own);
      delete from {schema}.webhook_payload where event_id = any (events);
      return marked;
    end
    $$;

    -- Lets the workers read the subscriptions again that have one of these deliveries pending, as after a change. Returns their
    -- accounts.
    create function reread_erased_deliveries(of_deliveries bigint[]) returns setof bigint
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      insert into {schema}.webhook_event_queue (account_id, interface, subscription_id)
      select distinct p.account_id, p.interface, p.subscription_id
      from {schema}.webhook_delivery d
      join {schema}.webhook_pending_delivery p on p.subscription_id = d.subscription_id and p.delivery_id = d.id
      where d.id = any (of_deliveries) and d.erased_at is not null
      returning account_id
    $$;

    -- Whether no worker that runs has one of their subscriptions left to read again.
    create function are_erased_deliveries_reread(of_deliveries bigint[]) returns boolean
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      select not exists (
        select
        from (select distinct account_id, subscription_id from {schema}.webhook_delivery where id = any (of_deliveries)) d
        join {schema}.webhook_event_queue q on q.shard = (d.account_id & 63)::smallint and q.account_id = d.account_id
          and q.event_id is null and q.subscription_id = d.subscription_id and q.blocked_on is null
        where {schema}.webhook_has_worker(d.account_id)
      )
    $$;

    -- How many rows of other tables belong to events and deliveries.
    create function count_kept_of_person(of_events bigint[], of_deliveries bigint[]) returns jsonb
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      select jsonb_build_object(
        'webhook_payload', (select count(*) from {schema}.webhook_payload where event_id = any (of_events)),
        'webhook_event_queue', (
          select count(*)
          from (select distinct account_id from {schema}.webhook_event where id = any (of_events)) a
          join {schema}.webhook_event_queue q on q.shard = (a.account_id & 63)::smallint and q.account_id = a.account_id
          where q.event_id = any (of_events)
        ),
        'webhook_pending_delivery', (
          select count(*)
          from {schema}.webhook_delivery d
          join {schema}.webhook_pending_delivery p on p.subscription_id = d.subscription_id and p.delivery_id = d.id
          where d.id = any (of_deliveries)
        ),
        'webhook_replay', (
          select count(*)
          from {schema}.webhook_replay
          where delivery_id = any (of_deliveries) and ended_at is null and cancelled_at is null
        ),
        'webhook_exchange', (select count(*) from {schema}.webhook_exchange where delivery_id = any (of_deliveries))
      )
    $$;

    -- Ends deliveries that are marked: none is pending or to be retried, and what their attempts sent and received is deleted.
    -- Returns how many exchanges were.
    create function end_erased_deliveries(of_deliveries bigint[]) returns bigint
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      deliveries_max constant int := 1000;
      own bigint[];
      subscriptions bigint[];
      erased bigint;
    begin
      if cardinality(of_deliveries) > deliveries_max then
        raise exception 'At most % deliveries are ended at once, not %.', deliveries_max, cardinality(of_deliveries);
      end if;
      select array_agg(d.id order by d.id), array_agg(distinct d.subscription_id) into own, subscriptions
      from {schema}.webhook_delivery d
      where d.id = any (of_deliveries) and d.erased_at is not null;
      with unsent as (
        delete from {schema}.webhook_pending_delivery
        where subscription_id = any (subscriptions) and delivery_id = any (own)
        returning subscription_id, delivery_id, interface
      )
      insert into {schema}.webhook_failed_delivery (subscription_id, delivery_id, interface, is_erased)
      select subscription_id, delivery_id, interface, true
      from unsent
      on conflict do nothing;
      update {schema}.webhook_failed_delivery
      set is_erased = true
      where subscription_id = any (subscriptions) and delivery_id = any (own) and not is_erased;
      update {schema}.webhook_replay
      set ended_at = now(), skipped = skipped + 1, last_id = delivery_id
      where delivery_id = any (own) and ended_at is null and cancelled_at is null;
      -- The bound of the ids excludes the partitions of coming days.
      delete from {schema}.webhook_exchange
      where delivery_id = any (own)
        and id < (extract(epoch from clock_timestamp() - timestamptz '2026-01-01Z')::bigint + 86400) * 1000 << 22;
      get diagnostics erased = row_count;
      return erased;
    end
    $$;

    create function end_person_erasure(of_record_type text, of_record_id bigint) returns void
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      delete from {schema}.person_erasure where record_type = of_record_type and record_id = of_record_id
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function person_results, person_addresses, person_row, begin_person_erasure, is_of_erased_person, erase_person_events,
  mark_erased_deliveries, reread_erased_deliveries, are_erased_deliveries_reread, count_kept_of_person, end_erased_deliveries,
  end_person_erasure from public;
grant execute on function person_addresses, person_row, begin_person_erasure, erase_person_events, mark_erased_deliveries,
  reread_erased_deliveries, are_erased_deliveries_reread, count_kept_of_person, end_erased_deliveries, end_person_erasure
  to operator;
