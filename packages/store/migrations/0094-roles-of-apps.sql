-- Functions find the group role of an app by role_of_app(). They failed where a role did not exist, and believed any role of the name: the
-- cluster's, which another database or a login with CREATEROLE may have created.

do $do$
declare
  change record;
  definition text;
  place constant text := quote_ident(current_schema());
begin
  execute replace($schema$
    -- The name of the group role of an app: '<interface>-api', 'webhook-worker' or 'operator-cli'.
    create function role_name(app text) returns text
    language sql immutable
    return case app when 'operator-cli' then 'operator' else replace(app, '-', '_') end;

    create or replace function role_of_interface(name {schema}.interface_name) returns text
    language sql stable
    return {schema}.role_name(name::text || '-api');

    -- For functions of the owner. The role whose members are the logins of an app: its group role, or the owner if the migrations have
    -- granted nothing to a role of this name. The right that they grant to every group role tells, because only the owner can grant it.
    create function role_of_app(app text) returns oid
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
    as $$
    declare
      role constant regrole := to_regrole(quote_ident({schema}.role_name(app)));
    begin
      if role is not null and exists (
        select
        from pg_class c
        where c.oid = '{schema}.schema_migration'::regclass and c.relacl @> makeaclitem(role, c.relowner, 'SELECT', false)
      ) then
        return role;
      end if;
      return quote_ident(current_user)::regrole;
    end
    $$;

    -- For functions of the owner. The apps of which the session has a login.
    create function apps_of_session() returns text[]
    language sql stable
    return array(
      select known.app
      from (select i.name || '-api' from {schema}.interface i union all values ('webhook-worker'), ('operator-cli')) as known (app)
      where pg_has_role(session_user, {schema}.role_of_app(known.app), 'member')
      order by known.app
    );

    -- As before, with the role that role_of_app() finds.
    create or replace function session_is_operator() returns boolean
    language sql stable
    return pg_has_role(session_user, {schema}.role_of_app('operator-cli'), 'member') or pg_has_role(session_user, current_user, 'member');
  $schema$, '{schema}', place);

  for change in
    select *
    from (values
      ('check_app_of_session', $old$array(
        select name
        from (
          select i.name || '-api', {schema}.role_of_interface(i.name) from {schema}.interface i
          union all values ('webhook-worker', 'webhook_worker'), ('operator-cli', 'operator')
        ) as known (name, group_role)
        where pg_has_role(session_user, group_role, 'member')
      )$old$, '{schema}.apps_of_session()'),
      ('register_process',
        $$not pg_has_role(session_user, case app when 'operator-cli' then 'operator' else replace(app, '-', '_') end, 'member')$$,
        'app <> all ({schema}.apps_of_session())'),
      ('record_use', $$pg_has_role(s.usesysid, replace(app, '-', '_'), 'member')$$,
        $$pg_has_role(s.usesysid, {schema}.role_of_app(app), 'member')$$),
      ('session_sees_account', $old$pg_has_role(session_user, {schema}.role_of_interface(a.interface), 'member')
          or pg_has_role(session_user, 'webhook_worker', 'member')$old$,
        $new$pg_has_role(session_user, {schema}.role_of_app(a.interface::text || '-api'), 'member')
          or pg_has_role(session_user, {schema}.role_of_app('webhook-worker'), 'member')$new$),
      ('acting_on_keys', $$pg_has_role(session_user, {schema}.role_of_interface(k.interface), 'member')$$,
        $$pg_has_role(session_user, {schema}.role_of_app(k.interface::text || '-api'), 'member')$$),
      ('acting_on_keys', $$pg_has_role(session_user, {schema}.role_of_interface(session.interface), 'member')$$,
        $$pg_has_role(session_user, {schema}.role_of_app(session.interface::text || '-api'), 'member')$$),
      ('require_no_app', $old$not pg_has_role(usesysid, 'operator', 'member') and not pg_has_role(usesysid, current_user, 'member') and (
          pg_has_role(usesysid, 'webhook_worker', 'member')$old$,
        $new$not pg_has_role(usesysid, {schema}.role_of_app('operator-cli'), 'member')
        and not pg_has_role(usesysid, current_user, 'member') and (
          pg_has_role(usesysid, {schema}.role_of_app('webhook-worker'), 'member')$new$),
      ('require_no_app', $$pg_has_role(usesysid, replace(name || '_api', '-', '_'), 'member')$$,
        $$pg_has_role(usesysid, {schema}.role_of_app(name || '-api'), 'member')$$)
    ) as changes (function_name, old_text, new_text)
  loop
    definition := pg_get_functiondef(to_regproc(change.function_name));
    change.old_text := replace(change.old_text, '{schema}', place);
    if cardinality(string_to_array(definition, change.old_text)) <> 2 then
      raise exception 'The function % is not that of an earlier migration.', change.function_name;
    end if;
    execute replace(definition, change.old_text, replace(change.new_text, '{schema}', place));
  end loop;
end
$do$;

revoke execute on function role_name, role_of_app, apps_of_session from public;
