-- The names of the group roles begin with a prefix that is chosen when a database is created: roles belong to the cluster, and two services
-- may have an interface of one name. Databases of before have none: the default is constant, so that no row is written. New rows only: 0104
-- validates the bounds.

alter table installation
  -- Begins the names of the group roles. It never changes, because the roles, their policies and their logins exist. With the longest name of an
  -- interface and `_actions`, the name of a policy has 63 letters, and PostgreSQL would cut a longer one.
  add column role_prefix text not null default '',
  add constraint installation_role_prefix_bounds check (role_prefix ~ '^([a-z][a-z0-9_]{0,18}_)?$') not valid;

do $do$
begin
  execute format($format$
    -- The literal is that of `installation`, so that PostgreSQL inlines the function. Apps read it in the catalog, as a login of no group role
    -- can, too.
    create function role_prefix() returns text
    language sql immutable
    return %L
  $format$, (select role_prefix from installation));

  execute replace($schema$
    -- As before, with the prefix of the database.
    create or replace function role_name(app text) returns text
    language sql immutable
    return {schema}.role_prefix() || case app when 'operator-cli' then 'operator' else replace(app, '-', '_') end;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function role_prefix from public;
