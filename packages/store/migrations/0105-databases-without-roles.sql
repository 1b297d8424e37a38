-- Later migrations grant to the roles of the worker and of the operators by for_app(), and to those of interfaces by `shared_right` and
-- `shared_policy`, so that they also work in a database without roles: its owner could not create them. own_table() and own_sequence() no
-- longer grant to a role that belongs to another database of the cluster.

do $do$
declare
  change record;
  definition text;
begin
  execute replace($schema$
    -- For functions of the owner. Whether the database has a role for an app: '<interface>-api', 'webhook-worker' or 'operator-cli'. A role
    -- of the name that another database of the cluster has does not count.
    create function has_role(app text) returns boolean
    language sql stable
    return coalesce(to_regrole(quote_ident({schema}.role_name(app)))::oid = {schema}.role_of_app(app), false);

    -- Runs grants and policies for the role of an app, as has_role() takes it. `{role}` is its name. Does nothing in a database without
    -- this role. Only the owner can call it.
    create function for_app(app text, statements text) returns void
    language plpgsql
    set search_path = {schema}, pg_temp
    as $$
    begin
      if has_role(app) then
        execute replace(statements, '{role}', to_regrole(quote_ident(role_name(app)))::text);
      end if;
    end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));

  for change in
    select *
    from (values
      ('own_table', $$from (values (own_role), (role_name('operator-cli'))) as r (role)
        where to_regrole(quote_ident(r.role)) is not null$$,
        $$from (values (own_role, interface::text || '-api'), (role_name('operator-cli'), 'operator-cli')) as r (role, name)
        where has_role(r.name)$$),
      ('own_table', 'if to_regrole(quote_ident(own_role)) is not null then', $$if has_role(interface::text || '-api') then$$),
      ('own_sequence', $$if to_regrole(quote_ident(role_name('operator-cli'))) is not null then$$, $$if has_role('operator-cli') then$$)
    ) as changes (function_name, old_text, new_text)
  loop
    definition := pg_get_functiondef(to_regproc(change.function_name));
    if cardinality(string_to_array(definition, change.old_text)) <> 2 then
      raise exception 'The function % is not that of an earlier migration.', change.function_name;
    end if;
    execute replace(definition, change.old_text, change.new_text);
  end loop;
end
$do$;

revoke execute on function has_role, for_app from public;
