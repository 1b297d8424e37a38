-- Which builds run, and which versions their clients use. Apps of the last release record neither.

-- Of this database and its copies.
-- The table has one row.
-- squawk-ignore adding-field-with-default
alter table installation add column installation_id uuid not null default gen_random_uuid();
grant select (installation_id) on installation to operator;

-- What a build can do: the `dist/contracts.json` of an app, each file once.
create table app_contracts (
  -- SHA-256 of the file, in hexadecimal digits.
  digest text primary key constraint app_contracts_digest_bounds check (digest ~ '^[0-9a-f]{64}$'),
  app text not null constraint app_contracts_app_bounds check (octet_length(app) <= 20),
  contracts text not null constraint app_contracts_contracts_bounds check (octet_length(contracts) <= 2000000),
  stored_at timestamptz(3) not null default now()
);

-- The processes of all apps. `webhook_worker` is the fence of the workers. Of the operator's commands, one row for each build.
create table app_process (
  id uuid primary key,
  app text not null constraint app_process_app_bounds check (octet_length(app) <= 20),
  version text not null constraint app_process_version_bounds check (octet_length(version) <= 100),
  -- Null: the contracts of the build are not known.
  digest text constraint app_process_digest_bounds check (digest ~ '^[0-9a-f]{64}$'),
  started_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null
) with (fillfactor = 50);
create index app_process_by_app on app_process (app);

-- How often a client used a version of its interface on a day (UTC).
create table interface_use (
  api_client_id bigint not null,
  interface interface_name not null,
  day date not null,
  version text not null constraint interface_use_version_bounds check (octet_length(version) <= 20),
  -- A deprecated or preview coordinate of the SDL. Empty: the version itself.
  coordinate text not null constraint interface_use_coordinate_bounds check (octet_length(coordinate) <= 300),
  count bigint not null constraint interface_use_count_bounds check (count between 1 and 9000000000000000),
  primary key (api_client_id, day, version, coordinate),
  foreign key (api_client_id, interface) references api_client (id, interface)
) with (fillfactor = 50);
-- Serves delete_old_use().
create index interface_use_by_day on interface_use (day);

-- From when to when a process has stored what it counted.
create table use_counting (
  id bigint primary key generated always as identity,
  -- As in `app_process`.
  app text not null constraint use_counting_app_bounds check (octet_length(app) <= 20),
  process_id uuid not null,
  -- The deprecated coordinates that the process counts, one a line: `2026-11-01 Query.old`.
  coordinates text not null constraint use_counting_coordinates_bounds check (octet_length(coordinates) <= 100000),
  counted_from timestamptz(3) not null,
  counted_until timestamptz(3) not null,
  -- When the counts until `counted_until` arrived.
  recorded_at timestamptz(3) not null,
  -- When the process was last known to run.
  seen_at timestamptz(3) not null,
  -- OPEN: the process counts, or was killed. LOST: counts after `counted_until`, until `seen_at`, may be lost. OVERFLOWED: counts of
  -- the period are lost.
  state text not null constraint use_counting_state_bounds check (state in ('OPEN', 'ENDED', 'LOST', 'OVERFLOWED')),
  check (counted_from <= counted_until)
) with (fillfactor = 50);
create unique index use_counting_open on use_counting (process_id, app) where state = 'OPEN';
create index use_counting_by_app on use_counting (app, counted_until);

alter table app_contracts enable row level security;
alter table app_process enable row level security;
alter table interface_use enable row level security;
alter table use_counting enable row level security;
create policy operator on app_contracts for select to operator using (true);
create policy operator on app_process for select to operator using (true);
create policy operator on interface_use for select to operator using (true);
create policy operator on use_counting for select to operator using (true);
grant select on app_contracts, app_process, interface_use, use_counting to operator;

do $do$
begin
  execute replace($schema$
    -- Refuses a login of another app, and one of several apps, such as that of a pooler. The owner of the tables can be each of them.
    create function check_app_of_session(app text) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      own constant text[] := array(
        select name
        from unnest(array['lender-api', 'partner-api', 'webhook-worker', 'operator-cli'],
          array['lender_api', 'partner_api', 'webhook_worker', 'operator']) as known (name, group_role)
        where pg_has_role(session_user, group_role, 'member')
      );
    begin
      if own = array[app] or app = any (own) and pg_has_role(session_user, current_user, 'member') then
        return;
      end if;
      raise exception using
        errcode = 'insufficient_privilege',
        message = format('The login %s cannot record for %s: it is a login of %s.',
          session_user, app, coalesce(nullif(array_to_string(own, ' and '), ''), 'no app'));
    end
    $$;

    -- Registers a process, or that it still runs. Returns false if the contracts with the digest are not stored: then the process is
    -- registered without them. A process beyond 1,000 of an app counts as one without contracts.
    create function register_process(app text, id uuid, version text, digest text) returns boolean
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      is_known constant boolean := digest is null or exists (
        select from {schema}.app_contracts c where c.digest = register_process.digest and c.app = register_process.app
      );
      at constant timestamptz := clock_timestamp();
      row_id uuid := case when app = 'operator-cli' then md5(version || coalesce(digest, ''))::uuid else id end;
      further constant uuid := md5(app)::uuid;
    begin
      perform {schema}.check_app_of_session(app);
      delete from {schema}.app_process p where p.app = register_process.app and p.last_seen_at < at - interval '1 day';
      if not exists (select from {schema}.app_process p where p.id = row_id)
        and (select count(*) >= 1000 from {schema}.app_process p where p.app = register_process.app) then
        row_id := further;
      end if;
      if row_id = further then
        digest := null;
      end if;
      insert into {schema}.app_process as p (id, app, version, digest, started_at, last_seen_at)
      values (row_id, app, version, case when is_known then digest end, at, at)
      on conflict on constraint app_process_pkey do update
      set version = excluded.version, digest = excluded.digest, last_seen_at = at
      where p.app = excluded.app;
      if app in ('lender-api', 'partner-api') then
        update {schema}.use_counting c set seen_at = at
        where c.process_id = register_process.id and c.app = register_process.app and c.state = 'OPEN';
        if not found then
          perform {schema}.begin_counting(app, id, '', at);
        end if;
      end if;
      return is_known;
    end
    $$;

    -- Of the contracts of an app, 20 are kept at most. Those that no process has are deleted.
    create function store_app_contracts(app text, contracts text) returns void
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      perform {schema}.check_app_of_session(app);
      if contracts::jsonb ->> 'app' is distinct from app then
        raise exception 'The contracts are not those of %.', app using errcode = 'invalid_parameter_value';
      end if;
      delete from {schema}.app_contracts c
      where c.app = store_app_contracts.app and c.stored_at < now() - interval '1 hour'
        and not exists (select from {schema}.app_process p where p.digest = c.digest);
      if (select count(*) >= 20 from {schema}.app_contracts c where c.app = store_app_contracts.app) then
        raise exception 'The processes of % have too many builds.', app using errcode = 'program_limit_exceeded';
      end if;
      insert into {schema}.app_contracts (digest, app, contracts)
      values (encode(sha256(convert_to(contracts, 'UTF8')), 'hex'), app, contracts)
      on conflict do nothing;
    end
    $$;

    create function end_process(app text, id uuid) returns void
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    begin
      perform {schema}.check_app_of_session(app);
      delete from {schema}.app_process p
      -- Not the row of the processes beyond 1,000.
      where p.id = end_process.id and p.app = end_process.app and p.id <> md5(p.app)::uuid;
    end
    $$;

    -- Of the periods of an app, 20,000 are kept. Without the older ones, nothing counts as counted before their end.
    create function begin_counting(app text, process_id uuid, coordinates text, at timestamptz) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      cut timestamptz;
    begin
      select c.counted_until into cut
      from {schema}.use_counting c
      where c.app = begin_counting.app
      order by c.counted_until desc
      offset 20000 limit 1;
      if found then
        -- What was lost until `seen_at` stays known.
        delete from {schema}.use_counting c where c.app = begin_counting.app and greatest(c.counted_until, c.seen_at) <= cut;
        update {schema}.use_counting c set counted_from = cut, counted_until = greatest(c.counted_until, cut)
        where c.app = begin_counting.app and c.counted_from < cut;
      end if;
      insert into {schema}.use_counting (app, process_id, coordinates, counted_from, counted_until, recorded_at, seen_at, state)
      values (app, process_id, coordinates, at, at, at, at, 'OPEN');
    end
    $$;

    -- Adds what a process has counted in `counted_ms` milliseconds since the last call of it returned. The period continues only if
    -- this is the time that has passed here: otherwise a clock was set, or the process did not run. Null: earlier counts may be lost.
    -- No counts and no period can be taken back.
    create function record_use(
      app text, process_id uuid, counted_ms double precision, overflowed boolean, ended boolean,
      counted text, clients text[], versions text[], coordinates text[], counts bigint[]
    ) returns void
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    set timezone = 'UTC'
    as $$
    declare
      at constant timestamptz(3) := clock_timestamp();
      period record;
      new_until timestamptz(3);
    begin
      perform {schema}.check_app_of_session(app);
      if app not in ('lender-api', 'partner-api') or cardinality(clients) > 10000 then
        raise exception '% cannot record this use.', app using errcode = 'invalid_parameter_value';
      end if;
      insert into {schema}.interface_use as u (api_client_id, interface, day, version, coordinate, count)
      select c.id, c.interface, at::date, n.version, n.coordinate, least(sum(n.count), 1000000000000)
      from unnest(clients, versions, coordinates, counts) as n (client_id, version, coordinate, count)
      join {schema}.api_client c on c.client_id = n.client_id and c.interface::text || '-api' = app
      where n.count > 0
      group by c.id, c.interface, n.version, n.coordinate
      -- The order in which all processes lock the rows.
      order by c.id, n.version, n.coordinate
      on conflict on constraint interface_use_pkey do update
      set count = least(u.count + excluded.count, 9000000000000000);
      if exists (
        select from {schema}.interface_use u
        where u.day = at::date and u.api_client_id in (select id from {schema}.api_client where client_id = any (clients))
        group by u.api_client_id having count(*) > 5000
      ) then
        raise exception 'A client of % uses too many coordinates.', app using errcode = 'program_limit_exceeded';
      end if;

      select * into period
      from {schema}.use_counting c
      where c.process_id = record_use.process_id and c.app = record_use.app and c.state = 'OPEN'
      for update;
      if not found then
        perform {schema}.begin_counting(app, process_id, counted, at);
        select * into period
        from {schema}.use_counting c
        where c.process_id = record_use.process_id and c.app = record_use.app and c.state = 'OPEN';
      else
        new_until := period.recorded_at + make_interval(secs => counted_ms / 1000);
        if coalesce(counted_ms >= 0 and at - new_until between '-1 second' and '30 seconds', false)
          -- An API of the last release runs, which does not count.
          and not exists (
            select from pg_stat_activity s
            where s.datname = current_database() and s.application_name = 'deedwire-' || app || '-costs'
          ) then
          new_until := least(new_until, at);
          if overflowed then
            update {schema}.use_counting c set state = 'ENDED' where c.id = period.id;
            insert into {schema}.use_counting (app, process_id, coordinates, counted_from, counted_until, recorded_at, seen_at, state)
            values (app, process_id, '', period.counted_until, greatest(new_until, period.counted_until), at, at, 'OVERFLOWED');
            perform {schema}.begin_counting(app, process_id, counted, greatest(new_until, period.counted_until));
          else
            update {schema}.use_counting c set counted_until = greatest(new_until, c.counted_until) where c.id = period.id;
          end if;
        else
          -- A clock that was set back leaves a gap, too.
          update {schema}.use_counting c
          set state = 'LOST', counted_from = least(c.counted_from, at), counted_until = least(c.counted_until, at),
            seen_at = greatest(at, c.counted_until)
          where c.id = period.id;
          perform {schema}.begin_counting(app, process_id, counted, at);
        end if;
      end if;
      update {schema}.use_counting c
      set recorded_at = at, seen_at = greatest(at, c.seen_at), state = case when ended then 'ENDED' else 'OPEN' end
      where c.process_id = record_use.process_id and c.app = record_use.app and c.state = 'OPEN';
    end
    $$;

    -- Deletes up to `batch` counts that are older than 400 days, with the periods of that time, and returns the number of counts.
    create function delete_old_use(batch int) returns bigint
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      delete from {schema}.use_counting where counted_until < now() - interval '400 days';
      with old as (
        select api_client_id, day, version, coordinate
        from {schema}.interface_use
        where day < (now() at time zone 'UTC')::date - 400
        limit batch
        for update skip locked
      ), deleted as (
        delete from {schema}.interface_use u using old o
        where (u.api_client_id, u.day, u.version, u.coordinate) = (o.api_client_id, o.day, o.version, o.coordinate)
        returning 1
      )
      select count(*) from deleted
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function check_app_of_session, register_process, store_app_contracts, end_process, begin_counting, record_use,
  delete_old_use from public;
grant execute on function register_process, store_app_contracts to lender_api, partner_api, webhook_worker, operator;
grant execute on function end_process to lender_api, partner_api, webhook_worker;
grant execute on function record_use to lender_api, partner_api;
grant execute on function delete_old_use to webhook_worker;
