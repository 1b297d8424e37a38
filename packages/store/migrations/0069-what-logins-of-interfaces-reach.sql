-- What a stolen login could do beyond its app: see accounts of another interface that leave, name an operator in the audit log, revive what
-- has ended, write numbers that no app writes, and keep interfaces from becoming ready. The statements of apps of the last release do none
-- of this.

do $do$
declare
  change record;
  definition text;
begin
  execute replace($schema$
    -- For functions of the owner. The owner counts as an operator.
    create function session_is_operator() returns boolean
    language sql stable
    return pg_has_role(session_user, 'operator', 'member') or pg_has_role(session_user, current_user, 'member');

    -- For functions of the owner. False for an account of another interface than those of the login, and for one that does not exist.
    create function session_sees_account(account_id bigint) returns boolean
    language sql stable
    set search_path = pg_catalog, pg_temp
    as $$
      select exists (
        select
        from {schema}.account a
        where a.id = $1 and (
          pg_has_role(session_user, {schema}.role_of_interface(a.interface), 'member')
          or pg_has_role(session_user, 'webhook_worker', 'member') or {schema}.session_is_operator()
        )
      )
    $$;

    -- As before, but the claims of an interface name no operator: its entry is dropped.
    create or replace function merge_audit_claim() returns trigger
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      if {schema}.session_is_operator() then
        update {schema}.audit_entry
        set actor_type = 'OPERATOR', actor = left(new.actor, 250), address = left(new.address, 250),
          request_id = left(new.request_id, 250), details = details || jsonb_build_object('command', left(new.action, 100))
        where at = now()::timestamptz(3) and transaction_id = pg_current_xact_id() and actor is null and new.actor is not null;
      end if;
      return null;
    end
    $$;

    -- Lets merge_audit_claim() have the entries of actions that functions of the owner record, among them those of accounts of every
    -- interface. Called when there is a further interface.
    create function guard_audit_entries() returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      execute format('create or replace trigger merge_audit_claim before insert on {schema}.audit_entry
        for each row when (new.transaction_id is null and new.action ~ %L) execute function {schema}.merge_audit_claim()',
        (select format('^((%s|client|credential|portal_link|portal_session|person)\.|webhook_listener\.expire$)',
          string_agg(replace(i.name::text, '-', '_'), '|' order by i.name)) from {schema}.interface i));
    end
    $$;

    -- The event types that a build of the worker renders. None if its contracts cannot be read, or are longer than those of any build:
    -- each check of an app reads those of all builds.
    create function rendered_event_types(contracts text) returns text[]
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      return array(
        select split_part(event #>> '{}', '@', 1)
        from jsonb_path_query(case when octet_length(contracts) <= 100000 then contracts::jsonb end, 'lax $.renders[*].event', '{}', true)
          as event
      );
    exception when others then
      return '{}';
    end
    $$;

    -- The builds of running workers that do not render all of these event types, and the types that they lack. `is_known`: a running
    -- worker renders one of the types, or its contracts are not known. No rows while no worker has a lease.
    create function webhook_workers_lacking(event_types text[])
    returns table (version text, digest text, lacking text[], is_known boolean)
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      with running as (
        select distinct p.version, p.digest
        from {schema}.app_process p
        where p.app = 'webhook-worker' and p.last_seen_at > clock_timestamp() - interval '150 seconds'
          and exists (select from {schema}.webhook_worker w where w.alive and w.leased_until > clock_timestamp())
      ), builds as materialized (
        select c.digest, array(
          select type from unnest(event_types) as type where type <> all (rendered) order by type
        ) as lacking
        from {schema}.app_contracts c
        cross join lateral {schema}.rendered_event_types(c.contracts) as rendered
        where c.digest in (select r.digest from running r)
      )
      select r.version, r.digest, b.lacking,
        exists (
          select
          from running other left join builds of_other using (digest)
          where of_other.lacking is null or cardinality(of_other.lacking) < cardinality(event_types)
        )
      from running r join builds b using (digest)
      where cardinality(b.lacking) > 0
      order by r.version, r.digest
    $$;

    -- For apps of earlier releases: the versions for which an interface waits.
    create or replace function webhook_workers_without(event_types text[]) returns table (version text)
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      select distinct w.version from {schema}.webhook_workers_lacking(event_types) w where not w.is_known order by w.version
    $$;

    create function keep_cancellation() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      raise exception 'The replay % has been cancelled since %.', old.id, old.cancelled_at using errcode = 'insufficient_privilege';
    end
    $$;

    -- A debt counts at most as the size of the bucket, as in settleCostBucket().
    create function bound_debt() returns trigger
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      new.points := greatest(new.points, -(select c.cost_maximum from {schema}.api_client c where c.id = new.api_client_id));
      return new;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));

  for change in
    select *
    from (values
      ('audit_change', $$coalesce(claim ->> 'actor', '') = ''$$,
        $$coalesce(claim ->> 'actor', '') = '' or not {schema}.session_is_operator()$$),
      ('audit_portal_session', $$pg_has_role(session_user, 'operator', 'member')$$, '{schema}.session_is_operator()'),
      -- An app can still end a session that is idle.
      ('check_portal_session', 'if old.expires_at <= now() then', $$if old.expires_at <= now() or old.last_used_at <= now() - interval '30 minutes' and (
            new.expires_at >= old.expires_at
            or (new.token_hash, new.started_at, new.last_used_at) is distinct from (old.token_hash, old.started_at, old.last_used_at)
          ) then$$),
      ('check_homes', 'where account_id = any (accounts) limit 1',
        'where account_id = any (accounts) and {schema}.session_sees_account(account_id) limit 1'),
      ('webhook_oldest_queued_event', $old$from {schema}.account a
      where a.id = $1 and pg_has_role(session_user, {schema}.role_of_interface(a.interface), 'member')$old$,
        'where {schema}.session_sees_account($1)'),
      ('record_use', 'where client_id = any (clients)', $$where client_id = any (clients) and interface::text || '-api' = app$$),
      ('add_interface', $old$-- Entries about accounts of every interface are those of the triggers.
      select format('^(%s|client|credential)\.', string_agg(replace(i.name::text, '-', '_'), '|' order by i.name)) into pattern from {schema}.interface i;
      drop trigger merge_audit_claim on {schema}.audit_entry;
      execute format('create trigger merge_audit_claim before insert on {schema}.audit_entry
        for each row when (new.transaction_id is null and new.action ~ %L) execute function {schema}.merge_audit_claim()', pattern);$old$,
        'perform {schema}.guard_audit_entries();'),
      ('add_interface', $old$
      pattern text;$old$, '')
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

revoke execute on function session_is_operator, session_sees_account, rendered_event_types, webhook_workers_lacking, keep_cancellation,
  bound_debt, guard_audit_entries from public;

-- A transaction that cancels a replay locks it alone.
create trigger keep_cancellation before update of cancelled_at on webhook_replay
  for each row when (old.cancelled_at is not null and new.cancelled_at is distinct from old.cancelled_at)
  execute function keep_cancellation();

grant select (only_row, cell) on installation to webhook_worker, operator;

do $$
declare
  app text;
begin
  for app in select role_of_interface(name) from interface loop
    execute format('grant select (only_row, cell) on installation to %I', app);
    execute format('grant execute on function webhook_workers_lacking to %I', app);
    -- What only commands of operators record.
    execute format($format$create policy %I on audit_entry as restrictive for insert to %I
      with check (action !~ '^((organization|member|secrets|database|cell)\.|referral\.(convert|decline)$)')$format$, app || '_actions', app);
  end loop;
  perform guard_audit_entries();
end
$$;
grant execute on function webhook_workers_lacking to operator;

-- Late, because each check of homes and each round of a worker waits for this lock.
-- The policies of `account` apply within those of an interface. As its reader, because the policies do not apply to the owner.
alter table account_home enable row level security;
create policy webhook_worker on account_home for select to webhook_worker using (true);
create policy operator on account_home for select to operator using (true);
create or replace view account_away with (security_invoker = true) as
select account_id, frozen_at is not null as is_frozen
from account_home
where frozen_at is not null or cell <> (select cell from installation where only_row);
do $$
declare
  app text;
begin
  for app in select role_of_interface(name) from interface loop
    execute format('create policy %I on account_home for select to %1$I
      using (exists (select from account a where a.id = account_id))', app);
  end loop;
end
$$;

-- Last, because each settlement waits for this lock. The smallest bucket has 1,000 points, so the trigger runs for large debts only.
create trigger bound_debt before update of points on cost_bucket
  for each row when (new.points < -1000) execute function bound_debt();
-- Those of the largest bucket. NaN is greater than all numbers.
alter table cost_bucket
  add constraint cost_bucket_points_bounds check (points between -1000000000 and 1000000000) not valid,
  add constraint cost_bucket_settled_at_bounds check (settled_at between '1970-01-01Z' and '9999-12-31Z') not valid;
update cost_bucket
set points = case when points between -1000000000 and 1000000000 then points else 0 end,
  settled_at = case when settled_at between '1970-01-01Z' and '9999-12-31Z' then settled_at else clock_timestamp() end
where points not between -1000000000 and 1000000000 or settled_at not between '1970-01-01Z' and '9999-12-31Z';
