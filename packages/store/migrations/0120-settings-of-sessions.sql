-- What functions of the owner check does not depend on the settings of a session, which every login can change. Entries of the audit log say
-- that an application has made them, whatever its login is.

do $do$
declare
  own record;
  function_name text;
  definition text;
begin
  -- A session can have a time zone whose clocks went forward a moment ago: `now() - interval '1 day'` is then seconds ago, and a partition has
  -- the name of another day. Without standard_conforming_strings, a pattern loses its backslashes.
  for own in
    select p.oid::regprocedure as routine, c.setting
    from pg_proc p
    cross join (values
      ('timezone = ''UTC''', $$interval '\d+ days?'|\mdays =>|to_char\(day$$),
      ('standard_conforming_strings = on', '\\')
    ) as c (setting, pattern)
    where p.pronamespace = quote_ident(current_schema())::regnamespace and (p.prosecdef or p.proname = 'ensure_partition')
      and p.prosrc ~ c.pattern
    order by p.proname
  loop
    execute format('alter routine %s set %s', own.routine, own.setting);
  end loop;

  -- A login that takes the role of the application, or calls a function of the application, has no right to call create_account(). Logins of
  -- apps must have it, because they can claim anything.
  foreach function_name in array array['audit_change', 'audit_portal_session'] loop
    definition := pg_get_functiondef(to_regproc(function_name));
    if cardinality(string_to_array(definition, $$create_account'), 'execute')$$)) <> 2 then
      raise exception 'The function % is not that of an earlier migration.', function_name;
    end if;
    execute replace(definition, $$create_account'), 'execute')$$,
      format($$create_account'), 'execute') or %I.apps_of_session() = '{}'$$, current_schema()));
  end loop;
end
$do$;
