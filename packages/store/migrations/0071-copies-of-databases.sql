-- Lets an operator make a copy of a database safe for tests: what production left to send is not sent from the copy. Apps of earlier
-- releases read what it writes as before.

do $do$
begin
  execute replace($schema$
    -- Refuses while an app uses the database, and keeps workers from starting until the end of the transaction. The owner may be unable
    -- to read the name of a session. Its login tells then: it has the rights of an app, and not those of an operator or of the owner.
    create function require_no_app() returns void
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      app text;
      lease timestamptz;
    begin
      select coalesce(named, 'the login ' || usename) into app
      from pg_stat_activity
      cross join substring(application_name from '^deedwire-(webhook-worker|.*-api)') as named
      where datname = current_database() and (
        named is not null
        or not pg_has_role(usesysid, 'operator', 'member') and not pg_has_role(usesysid, current_user, 'member') and (
          pg_has_role(usesysid, 'webhook_worker', 'member')
          or exists (
            select from unnest(enum_range(null::{schema}.interface_name)) as name
            where pg_has_role(usesysid, replace(name || '_api', '-', '_'), 'member')
          )
        )
      )
      order by named
      limit 1;
      if app is not null then
        raise exception 'A process of % is connected to this database. Check that it is the one that you mean, stop all apps of it, and try again.', app;
      end if;
      -- Before the lock, which a worker that renews its lease would wait for.
      for attempt in 1..2 loop
        select max(leased_until) into lease from {schema}.webhook_worker where alive and leased_until > clock_timestamp();
        if lease is not null then
          raise exception 'A worker has a lease on this database until %. Check that it is the one that you mean, stop all workers of it, and try again after this time.',
            to_char(lease at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
        end if;
        lock table {schema}.webhook_worker in share mode;
      end loop;
    end
    $$;

    -- Pauses all subscriptions, revokes the keys and ends the sessions and links of the portal, cancels replays, and discards queued
    -- events and alerts. Deliveries from before can no longer be sent: their workers read none below the bound. Returns what reached
    -- others, or let them in; of a dry run, without a change.
    create function close_copy(is_dry_run boolean) returns table (
      "activeSubscriptions" int, keys int, "portalSessions" int, replays int, "queuedEvents" int, "pendingDeliveries" int
    )
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      perform {schema}.require_no_app();
      with open as (
        select s.id, s.paused_reason
        from {schema}.webhook_subscription s
        where s.kind = 'PUSH' and s.deleted_at is null
          and (s.paused_reason is null or s.paused_reason <> 'OWNER' and s.owner_paused_at is null)
      ), paused as (
        update {schema}.webhook_subscription s
        set paused_reason = coalesce(s.paused_reason, 'OPERATOR'), paused_at = coalesce(s.paused_at, now()), owner_paused_at = now()
        from open
        where s.id = open.id and not is_dry_run
      )
      select count(*) filter (where open.paused_reason is null) into "activeSubscriptions" from open;
      -- Rows of accounts that are away cannot change, and nobody can use them.
      with open as (
        select k.key_id
        from {schema}.api_key k join {schema}.api_client c on c.id = k.api_client_id
        where k.revoked_at is null and not exists (select from {schema}.account_away a where a.account_id = c.account_id)
      ), revoked as (
        update {schema}.api_key k set revoked_at = now() from open where k.key_id = open.key_id and not is_dry_run
      )
      select count(*) into keys from open;
      with open as (
        select s.id
        from {schema}.portal_session s
        where s.expires_at > now() and not exists (select from {schema}.account_away a where a.account_id = s.account_id)
      ), ended as (
        -- Rounded to milliseconds, now() could be in the future.
        update {schema}.portal_session s
        set expires_at = date_trunc('milliseconds', now())
        from open
        where s.id = open.id and not is_dry_run
      )
      select count(*) into "portalSessions" from open;
      with open as (
        select r.id
        from {schema}.webhook_replay r
        where r.ended_at is null and r.cancelled_at is null
          and not exists (select from {schema}.account_away a where a.account_id = r.account_id)
      ), cancelled as (
        update {schema}.webhook_replay r set cancelled_at = now() from open where r.id = open.id and not is_dry_run
      )
      select count(*) into replays from open;
      select count(*) into "queuedEvents" from {schema}.webhook_event_queue where event_id is not null;
      select count(*) into "pendingDeliveries" from {schema}.webhook_pending_delivery;
      if not is_dry_run then
        update {schema}.webhook_retention set expired_before = greatest(expired_before, {schema}.new_record_id());
        delete from {schema}.webhook_event_queue where event_id is not null;
        -- Of the pauses above too: no alert reports them.
        delete from {schema}.webhook_subscription_episode;
        delete from {schema}.webhook_failure_to_report;
      end if;
      return next;
    end
    $$;

    -- Expires the pending deliveries of a copy that follow these ids, up to `batch`, and returns the last of them. Its ids
    -- are texts because JSON would round them.
    create function expire_copied_deliveries(after_subscription bigint, after_delivery bigint, batch int)
    returns table (subscription_id text, delivery_id text, expired int)
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      perform {schema}.require_no_app();
      return query
        with due as materialized (
          select p.ctid, p.subscription_id, p.delivery_id, p.interface
          from {schema}.webhook_pending_delivery p
          where (p.subscription_id, p.delivery_id) > (after_subscription, after_delivery)
          order by p.subscription_id, p.delivery_id
          limit batch
        ), ended as (
          delete from {schema}.webhook_pending_delivery p using due where p.ctid = due.ctid
        ), failed as (
          insert into {schema}.webhook_failed_delivery (subscription_id, delivery_id, interface)
          select due.subscription_id, due.delivery_id, due.interface from due
          on conflict do nothing
        )
        select due.subscription_id::text, due.delivery_id::text, (count(*) over ())::int
        from due
        order by due.subscription_id desc, due.delivery_id desc
        limit 1;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function require_no_app, close_copy, expire_copied_deliveries from public;
grant execute on function require_no_app, close_copy, expire_copied_deliveries to operator;
