-- Later migrations grant to the roles of the worker and of the operators by for_app(), and to those of interfaces by `shared_right` and
-- `shared_policy`, so that they also work in a database without roles: its owner could not create them.

do $do$
begin
  execute replace($schema$
    -- Runs grants and policies for the role of an app: '<interface>-api', 'webhook-worker' or 'operator-cli'. `{role}` is its name. Does
    -- nothing in a database without this role, even if the cluster has a role of the name. Only the owner can call it.
    create function for_app(app text, statements text) returns void
    language plpgsql
    set search_path = {schema}, pg_temp
    as $$
    declare
      own_role constant regrole := to_regrole(quote_ident(role_name(app)));
    begin
      if own_role = role_of_app(app) then
        execute replace(statements, '{role}', own_role::text);
      end if;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function for_app from public;
