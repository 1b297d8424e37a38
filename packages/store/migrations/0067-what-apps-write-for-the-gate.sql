-- What the login of an app writes for the questions about deployments harms the answers about this app only.

-- The sets of deprecated coordinates that processes count, each once: each period had a copy. At most 8 MB for an app.
create table counted_coordinates (
  id bigint primary key generated always as identity,
  -- As in `app_process`.
  app text not null constraint counted_coordinates_app_bounds check (octet_length(app) <= 40),
  -- SHA-256 of the coordinates.
  digest text not null constraint counted_coordinates_digest_bounds check (digest ~ '^[0-9a-f]{64}$'),
  coordinates text not null constraint counted_coordinates_coordinates_bounds check (octet_length(coordinates) <= 100000),
  unique (app, digest)
);
alter table counted_coordinates enable row level security;
create policy operator on counted_coordinates for select to operator using (true);
grant select on counted_coordinates to operator;

-- As much as an export needs for it.
create function size_of_coordinates(coordinates text) returns bigint
language sql immutable
return octet_length(to_json(coordinates)::text) + 100;

-- Null: the period is from before, until 0068, or the app has too many sets. Then nothing says what the period covers. An operator of the
-- last release reads `coordinates`, which is empty now, so that it answers more often that use is unknown.
-- No row has one yet, so PostgreSQL checks none: record_use() waits for no longer than the functions need.
-- squawk-ignore adding-foreign-key-constraint
alter table use_counting add column coordinates_id bigint references counted_coordinates (id);

do $do$
declare
  change record;
  definition text;
begin
  execute replace($schema$
    -- Returns the id of a set, which it stores once. Null if the app would have more than 8 MB.
    create function keep_coordinates(app text, coordinates text) returns bigint
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      known constant text := encode(sha256(convert_to(coordinates, 'UTF8')), 'hex');
      none constant text := encode(sha256(''), 'hex');
      found_id bigint;
    begin
      select c.id into found_id from {schema}.counted_coordinates c where c.app = keep_coordinates.app and c.digest = known;
      if found then
        return found_id;
      end if;
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'A set of coordinates is stored in a transaction with the isolation level read committed only.'
          using hint = 'In others, it would not see what others have stored.';
      end if;
      -- No login can lock this row in another way.
      insert into {schema}.counted_coordinates (app, digest, coordinates) values (app, none, '') on conflict do nothing;
      perform from {schema}.counted_coordinates c where c.app = keep_coordinates.app and c.digest = none for no key update;
      insert into {schema}.counted_coordinates as c (app, digest, coordinates)
      select keep_coordinates.app, known, keep_coordinates.coordinates
      where (
        select sum({schema}.size_of_coordinates(c.coordinates)) + {schema}.size_of_coordinates(keep_coordinates.coordinates) <= 8000000
        from {schema}.counted_coordinates c
        where c.app = keep_coordinates.app
      )
      on conflict do nothing;
      select c.id into found_id from {schema}.counted_coordinates c where c.app = keep_coordinates.app and c.digest = known;
      return found_id;
    end
    $$;

    -- Deletes up to `batch` counts that are older than 400 days, with the periods of that time and their coordinates, and returns the
    -- number of counts.
    create or replace function delete_old_use(batch int) returns bigint
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      delete from {schema}.use_counting where counted_until < now() - interval '400 days';
      delete from {schema}.counted_coordinates c
      where c.id in (
        select o.id
        from {schema}.counted_coordinates o
        where not exists (select from {schema}.use_counting u where u.coordinates_id = o.id)
        limit batch
        -- Not one that a period begins to use at this moment.
        for update skip locked
      );
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

  for change in
    select *
    from (values
      ('begin_counting', '(app, process_id, coordinates, counted_from', '(app, process_id, coordinates, coordinates_id, counted_from'),
      ('begin_counting', '(app, process_id, coordinates, at, at, at, at',
        $$(app, process_id, '', {schema}.keep_coordinates(app, coordinates), at, at, at, at$$),
      ('record_use', '(app, process_id, coordinates, counted_from', '(app, process_id, coordinates, coordinates_id, counted_from'),
      ('record_use', $$(app, process_id, '', period.counted_until$$,
        $$(app, process_id, '', {schema}.keep_coordinates(app, ''), period.counted_until$$),
      -- Every login can choose the name of its session.
      ('record_use', $$s.application_name = 'deedwire-' || app || '-costs'$$,
        $$s.application_name = 'deedwire-' || app || '-costs'
              and pg_has_role(s.usesysid, replace(app, '-', '_'), 'member')$$),
      ('record_use', $$raise exception 'A client of % uses too many coordinates.', app using errcode = 'program_limit_exceeded';
      end if;$$, $$raise exception 'A client of % uses too many coordinates.', app using errcode = 'program_limit_exceeded';
      end if;
      if cardinality(clients) > 0 and (
        select count(*) > 100000 from {schema}.interface_use u where u.day = at::date and u.interface::text || '-api' = app
      ) then
        raise exception 'The clients of % use too many coordinates.', app using errcode = 'program_limit_exceeded';
      end if;$$),
      ('take_cell_number', '      seed constant bigint', '      connected text;
      seed constant bigint'),
      ('take_cell_number', $$if exists (
        select from pg_stat_activity
        where datname = current_database() and application_name like 'deedwire-%' and pid <> pg_backend_pid()
      ) then
        raise exception 'Apps are connected to the new side. Stop them, and try again.';$$,
        $$select string_agg(format('%s (login %s, process %s)', application_name, usename, pid), ', ' order by pid) into connected
      from pg_stat_activity
      where datname = current_database() and application_name like 'deedwire-%' and pid <> pg_backend_pid();
      if connected is not null then
        raise exception 'Apps are connected to the new side: %. Stop them, and try again.', connected;$$)
    ) as changes (function_name, old_text, new_text)
  loop
    definition := pg_get_functiondef(to_regproc(change.function_name));
    if cardinality(string_to_array(definition, change.old_text)) <> 2 then
      raise exception 'The function % is not that of an earlier migration.', change.function_name;
    end if;
    execute replace(definition, change.old_text, replace(change.new_text, '{schema}', quote_ident(current_schema())));
  end loop;
end
$do$;

revoke execute on function size_of_coordinates, keep_coordinates from public;
