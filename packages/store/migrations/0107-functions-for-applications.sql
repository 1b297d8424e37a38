-- The login of an application may call the functions that are made for it, and nothing else. Where the names of roles have a prefix, the role
-- `<prefix>_application` has these rights. A role without a prefix is one of all databases of the cluster, so it never gets `usage` on the
-- schema: there, the rights are granted to the login.

create table application_function (
  -- As GRANT takes it, for example `append_event(text, text)`.
  signature text primary key
);

do $do$
begin
  execute replace(replace($schema$
    -- The role of the logins of applications. Null where the names of roles have no prefix.
    create function application_role() returns text
    language sql stable
    return nullif({schema}.role_name('application'), 'application');

    -- Makes a function one for applications: add_application_role() grants it. Only the owner can call it, also again.
    create function for_applications(of_function regprocedure) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      own pg_proc;
    begin
      select p.* into own from pg_proc p where p.oid = of_function;
      if own.pronamespace <> quote_ident({schema_text})::regnamespace or not own.prosecdef
        or own.proconfig @> array['search_path=pg_catalog, pg_temp'] is not true then
        raise exception 'The function % is not one of the schema % with `security definer` and `set search_path = pg_catalog, pg_temp`.',
          of_function, {schema_text};
      end if;
      execute format('revoke execute on routine %s from public', of_function);
      insert into {schema}.application_function
      values (format('%I(%s)', own.proname, oidvectortypes(own.proargtypes)))
      on conflict do nothing;
    end
    $$;

    -- Creates the role of applications, and grants it the functions that are made for them. Does nothing where the names of roles have no
    -- prefix, or the owner may not create a role. Only the owner can call it, also again.
    create function add_application_role() returns void
    language plpgsql
    set search_path = {schema}, pg_temp
    as $$
    declare
      own_role constant text := application_role();
      found_role pg_roles;
      own record;
    begin
      if own_role is null then
        return;
      end if;
      -- Roles belong to the whole cluster: the migration of another database may create it at this moment.
      if to_regrole(quote_ident(own_role)) is null then
        begin
          execute format('create role %I nologin', own_role);
        exception
          when duplicate_object or unique_violation then
            null;
          when insufficient_privilege then
            return;
        end;
      end if;
      select r.* into found_role from pg_roles r where r.rolname = own_role;
      if found_role.rolcanlogin or found_role.rolsuper or found_role.rolbypassrls or found_role.rolcreaterole then
        raise exception 'The role % exists and is no group role of applications: it can log in, or has a right that no application needs. Rename it, or run: alter role %I nologin nosuperuser nobypassrls nocreaterole',
          own_role, own_role;
      end if;
      execute format('grant usage on schema %I to %I', current_schema(), own_role);
      for own in
        select a.signature from application_function a where to_regprocedure(a.signature) is not null order by a.signature
      loop
        execute format('grant execute on routine %s to %I', own.signature, own_role);
      end loop;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema())), '{schema_text}', quote_literal(current_schema()));
end
$do$;

revoke execute on function application_role, for_applications, add_application_role from public;
select for_app('operator-cli', 'grant select on application_function to {role}');
