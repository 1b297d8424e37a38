-- A process is one of its app: the login of another app could take the id of a row, which then was missing without an error. And only
-- what the database has seen of an app says which of its builds have ended.

-- Each of its processes has one row, so that the locks are short.
-- squawk-ignore disallowed-unique-constraint, adding-serial-primary-key-field, constraint-missing-not-valid
alter table app_process drop constraint app_process_pkey, add constraint app_process_pkey primary key (app, id);
-- squawk-ignore require-concurrent-index-deletion
drop index app_process_by_app;

-- Since when the process has registered every minute. Each failed attempt is repeated after 5 seconds, so that a gap of more than 90
-- seconds is an outage, or a change of the clock.
alter table app_process add column seen_since timestamptz(3) not null default now();

do $do$
declare
  change record;
  definition text;
begin
  for change in
    select *
    from (values
      ('p where p.id = row_id', 'p where p.app = register_process.app and p.id = row_id'),
      ('(id, app, version, digest, started_at, last_seen_at)', '(id, app, version, digest, started_at, last_seen_at, seen_since)'),
      ('case when is_known then digest end, at, at)', 'case when is_known then digest end, at, at, at)'),
      ($$last_seen_at = at
      where p.app = excluded.app;$$, $$last_seen_at = at,
        seen_since = case when at - p.last_seen_at between '-1 second' and '90 seconds' then p.seen_since else at end;$$)
    ) as changes (old_text, new_text)
  loop
    definition := pg_get_functiondef('register_process'::regproc);
    if strpos(definition, change.old_text) = 0 then
      raise exception 'The function register_process is not that of an earlier migration.';
    end if;
    execute replace(definition, change.old_text, change.new_text);
  end loop;
end
$do$;
