-- A process whose login is that of several apps, as behind a pooler, was refused and left no trace, so that an answer took only the other
-- processes of its app for what runs. It is registered without its build now.

do $do$
begin
  execute replace($schema$
    -- Registers a process, or that it still runs. Returns false if the contracts with the digest are not stored: then the process is
    -- registered without them. A process beyond 1,000 of an app counts as one without contracts. So does one whose login is also that
    -- of other apps: it cannot store contracts, and what it counts is a gap.
    create or replace function register_process(app text, id uuid, version text, digest text) returns boolean
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      is_known boolean := digest is null or exists (
        select from {schema}.app_contracts c where c.digest = register_process.digest and c.app = register_process.app
      );
      at constant timestamptz := clock_timestamp();
      row_id uuid := case when app = 'operator-cli' then md5(version || coalesce(digest, ''))::uuid else id end;
      further constant uuid := md5(app)::uuid;
    begin
      begin
        perform {schema}.check_app_of_session(app);
      exception when insufficient_privilege then
        if not pg_has_role(session_user, case app when 'operator-cli' then 'operator' else replace(app, '-', '_') end, 'member') then
          raise;
        end if;
        is_known := false;
        digest := null;
      end;
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
      if app like '%-api' then
        update {schema}.use_counting c set seen_at = at
        where c.process_id = register_process.id and c.app = register_process.app and c.state = 'OPEN';
        if not found then
          perform {schema}.begin_counting(app, id, '', at);
        end if;
      end if;
      return is_known;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;
