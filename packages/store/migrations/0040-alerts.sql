-- Alerts: events that say how the deliveries of a subscription fare. Workers of earlier releases append none and block those that
-- they find, and do not note the failures that they record.

-- OPERATOR: an operator has paused the subscription. Its owner can resume it, as with OWNER. 0041 validates the constraint.
alter table webhook_subscription
  drop constraint webhook_subscription_paused_reason_check,
  add constraint webhook_subscription_paused_reason_check
    check (paused_reason in ('OWNER', 'OPERATOR', 'GONE', 'FAILING', 'VERSION_RETIRED')) not valid;

-- The subscription that an alert is about. The alert is not sent to it. Null for other events.
alter table webhook_event add column about_subscription_id bigint;

-- What alerts have said about a subscription. Apart from webhook_receiver_state, which ends with a pause and with a change of the URL.
-- No row: nothing yet.
create table webhook_subscription_episode (
  subscription_id bigint primary key references webhook_subscription on delete cascade,
  -- DISRUPTED from `webhook_subscription.disrupted` on; PAUSED while the subscription is paused; RECOVERING from a success, a change of
  -- the URL or the end of the pause on, for 5 minutes without failures.
  state text not null default 'HEALTHY' check (state in ('HEALTHY', 'DISRUPTED', 'PAUSED', 'RECOVERING')),
  since timestamptz(3) not null default now(),
  -- When the last episode began: its `webhook_subscription.disrupted`. Null: there was none.
  episode timestamptz(3),
  -- The pause that is to be reported. Null: there is none. 0044 sets it.
  paused_reason text,
  paused_at timestamptz(3)
) with (fillfactor = 50);
-- Those that can change without a change of the subscription, or are to be reported.
create index webhook_subscription_episode_open on webhook_subscription_episode (subscription_id)
  where state in ('DISRUPTED', 'RECOVERING') or paused_reason is not null;

alter table webhook_subscription_episode enable row level security;
create policy webhook_worker on webhook_subscription_episode for select to webhook_worker using (true);
create policy operator on webhook_subscription_episode for select to operator using (true);
grant select on webhook_subscription_episode to webhook_worker, operator;

do $do$
begin
  execute replace($schema$
    -- Appends an alert about a subscription to the outbox of its account. The data has the form of `EventSnapshots`.
    create function webhook_append_alert(subscription {schema}.webhook_subscription, type text, data jsonb, gid_namespace text)
    returns void
    language sql
    set search_path = pg_catalog, pg_temp
    as $$
      with event as (
        insert into {schema}.webhook_event (account_id, interface, event_type, snapshot, about_subscription_id)
        values (subscription.account_id, subscription.interface, type, (data || jsonb_build_object('webhookSubscription',
          jsonb_build_object('id', 'gid://' || gid_namespace || '/WebhookSubscription/' || subscription.id, 'name', subscription.name)
        ))::json, subscription.id)
        returning id
      )
      insert into {schema}.webhook_event_queue (account_id, interface, event_id)
      select subscription.account_id, subscription.interface, id
      from event
    $$;

    -- RFC 3339 in UTC, as in all payloads.
    create function webhook_alert_time(at timestamptz) returns text
    language sql stable
    set search_path = pg_catalog, pg_temp
    return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

    -- Compares what alerts have said about a subscription with its state, and appends the alerts that are due. Returns their number.
    -- Calls for one subscription take turns.
    create function webhook_raise_alerts(of_subscription bigint, gid_namespace text) returns int
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      failing_after constant interval := '5 minutes';
      success_holds_after constant interval := '5 minutes';
      episodes_apart constant interval := '1 hour';
      -- After an earlier failure, nothing is known of the receiver.
      failure_counts_for constant interval := '1 hour';
      failure_window constant interval := '5 minutes';
      -- The next call reports more.
      reported_max constant int := 10000;
      listed_max constant int := 10;
      subscription {schema}.webhook_subscription;
      receiver {schema}.webhook_receiver_state;
      known {schema}.webhook_subscription_episode;
      next_state text;
      window_start timestamptz;
      first_failed_at timestamptz;
      failed bigint[];
      raised int := 0;
    begin
      if (gid_namespace ~ '^[a-z][a-z0-9-]{0,99}$') is not true then
        raise exception 'The namespace % is not one of global identifiers.', gid_namespace;
      end if;
      insert into {schema}.webhook_subscription_episode (subscription_id)
      select id from {schema}.webhook_subscription where id = of_subscription and kind = 'PUSH' and deleted_at is null
      on conflict do nothing;
      select * into known from {schema}.webhook_subscription_episode where subscription_id = of_subscription for update;
      select * into subscription
      from {schema}.webhook_subscription
      where id = of_subscription and kind = 'PUSH' and deleted_at is null;
      if not found then
        -- Nothing is reported after the deletion.
        delete from {schema}.webhook_failure_to_report where subscription_id = of_subscription;
        return raised;
      end if;
      -- Null: the receiver does not fail.
      select * into receiver
      from {schema}.webhook_receiver_state
      where subscription_id = of_subscription and url_number = subscription.url_number and consecutive_failures > 0;

      if known.paused_reason is not null then
        update {schema}.webhook_subscription_episode
        set paused_reason = null, paused_at = null
        where subscription_id = of_subscription;
        perform {schema}.webhook_append_alert(subscription, 'webhook_subscription.paused', jsonb_build_object(
          'reason', known.paused_reason, 'pausedAt', {schema}.webhook_alert_time(known.paused_at)
        ), gid_namespace);
        raised := raised + 1;
      end if;

      next_state := case
        when known.state = 'HEALTHY' then
          case when subscription.paused_reason is null and receiver.failing_since <= now() - failing_after
            and receiver.last_failure_at > now() - failure_counts_for
            and (known.episode is null or known.episode <= now() - episodes_apart) then 'DISRUPTED' end
        when subscription.paused_reason is not null then 'PAUSED'
        when receiver.consecutive_failures > 0 then 'DISRUPTED'
        when known.state <> 'RECOVERING' then 'RECOVERING'
        when known.since <= now() - success_holds_after then 'HEALTHY'
      end;
      if next_state <> known.state then
        update {schema}.webhook_subscription_episode
        set state = next_state, since = now(), episode = case when known.state = 'HEALTHY' then now() else episode end
        where subscription_id = of_subscription;
        if known.state = 'HEALTHY' then
          perform {schema}.webhook_append_alert(subscription, 'webhook_subscription.disrupted', jsonb_build_object(
            'failingSince', {schema}.webhook_alert_time(receiver.failing_since),
            'consecutiveFailures', receiver.consecutive_failures
          ), gid_namespace);
          raised := raised + 1;
        elsif next_state = 'HEALTHY' then
          perform {schema}.webhook_append_alert(subscription, 'webhook_subscription.recovered', jsonb_build_object(
            'disruptedAt', {schema}.webhook_alert_time(known.episode)
          ), gid_namespace);
          raised := raised + 1;
        end if;
      end if;

      select min(failed_at) into window_start
      from {schema}.webhook_failure_to_report
      where subscription_id = of_subscription;
      if window_start <= now() - failure_window then
        with due as (
          select ctid
          from {schema}.webhook_failure_to_report
          where subscription_id = of_subscription and failed_at < window_start + failure_window
          order by failed_at
          limit reported_max
        ), noted as (
          delete from {schema}.webhook_failure_to_report r
          using due
          where r.ctid = due.ctid
          returning r.delivery_id, r.failed_at
        )
        -- Without those that are pending again, or were delivered since.
        select array_agg(distinct delivery_id order by delivery_id), min(failed_at) into failed, first_failed_at
        from noted
        where exists (
          select
          from {schema}.webhook_failed_delivery f
          where f.subscription_id = of_subscription and f.delivery_id = noted.delivery_id
        );
        if failed is not null then
          perform {schema}.webhook_append_alert(subscription, 'webhook_delivery.failed', jsonb_build_object(
            'since', {schema}.webhook_alert_time(first_failed_at),
            'failedCount', cardinality(failed),
            'webhookDeliveryIds', (
              select jsonb_agg('gid://' || gid_namespace || '/WebhookDelivery/' || id order by id)
              from unnest(failed[:listed_max]) as id
            )
          ), gid_namespace);
          raised := raised + 1;
        end if;
      end if;
      return raised;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function webhook_append_alert, webhook_alert_time, webhook_raise_alerts from public;
grant execute on function webhook_raise_alerts to webhook_worker;
