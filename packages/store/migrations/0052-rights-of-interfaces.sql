-- Interfaces are rows: what one may do on shared tables is granted to another one by add_interface(), and functions no longer name the
-- interfaces. An interface is added by two migrations, because a transaction cannot use a value that it adds to an enum:
--
--   alter type interface_name add value 'vendor';
--   select add_interface('vendor', 'VendorAccount');

create table interface (
  name interface_name primary key,
  -- The type of its accounts in global identifiers.
  account_type text not null unique constraint interface_account_type_bounds check (account_type ~ '^[A-Z][A-Za-z0-9]{0,62}$')
);
insert into interface values ('lender', 'Lender'), ('partner', 'Partner');

create function role_of_interface(name interface_name) returns text
language sql stable
return replace(name::text, '-', '_') || '_api';

do $do$
declare
  change record;
  definition text;
  app_table text;
begin
  -- The names of apps become longer. These tables have a row for each process or build.
  foreach app_table in array array['app_contracts', 'app_process', 'use_counting'] loop
    execute format('alter table %1$I drop constraint %1$s_app_bounds, add constraint %1$s_app_bounds check (octet_length(app) <= 40)',
      app_table);
  end loop;

  for change in
    select *
    from (values
      ('audit_change', $$noun := this_row ->> 'interface'$$, $$noun := replace(this_row ->> 'interface', '-', '_')$$),
      ('audit_change', 'initcap(noun)',
        $$(select i.account_type from {schema}.interface i where i.name::text = this_row ->> 'interface')$$),
      ('check_app_of_session', $old$unnest(array['lender-api', 'partner-api', 'webhook-worker', 'operator-cli'],
          array['lender_api', 'partner_api', 'webhook_worker', 'operator']) as known (name, group_role)$old$,
        $new$(
          select i.name || '-api', {schema}.role_of_interface(i.name) from {schema}.interface i
          union all values ('webhook-worker', 'webhook_worker'), ('operator-cli', 'operator')
        ) as known (name, group_role)$new$),
      ('register_process', $$app in ('lender-api', 'partner-api')$$, $$app like '%-api'$$),
      ('record_use', $$app not in ('lender-api', 'partner-api')$$, $$app not like '%-api'$$)
    ) as changes (function_name, old_text, new_text)
  loop
    definition := pg_get_functiondef(to_regproc(change.function_name));
    if strpos(definition, change.old_text) = 0 then
      raise exception 'The function % is not that of an earlier migration.', change.function_name;
    end if;
    execute replace(definition, change.old_text, replace(change.new_text, '{schema}', quote_ident(current_schema())));
  end loop;

  execute replace($schema$
    -- Creates the role of an interface, and grants it what the roles of all others have: rights on tables, columns, sequences, routines
    -- and the schema, and policies. Revokes what they do not have on these. Only the owner can call it, also again, after rights of the
    -- others changed. What fewer than all others have is their own.
    create function add_interface(name {schema}.interface_name, account_type text) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp
    set client_min_messages = warning
    as $$
    declare
      own_role constant text := {schema}.role_of_interface(name);
      others constant {schema}.interface_name[] := array(select i.name from {schema}.interface i where i.name <> add_interface.name);
      found record;
      pattern text;
    begin
      -- Roles belong to the whole cluster: the migration of another database may create it at this moment.
      if not exists (select from pg_roles where rolname = own_role) then
        begin
          execute format('create role %I nologin', own_role);
        exception when duplicate_object or unique_violation then
          null;
        end;
      end if;
      insert into {schema}.interface as i values (add_interface.name, add_interface.account_type)
      on conflict on constraint interface_pkey do update set account_type = excluded.account_type;

      create temporary table shared_right on commit drop as
      with granted as (
        select case c.relkind when 'S' then 'sequence ' else 'table ' end || c.oid::regclass as object, x.privilege_type as privilege,
          x.grantee
        from pg_class c, aclexplode(c.relacl) x
        where c.relnamespace = '{schema}'::regnamespace
        union all
        select 'table ' || c.oid::regclass, format('%s (%I)', x.privilege_type, a.attname), x.grantee
        from pg_class c join pg_attribute a on a.attrelid = c.oid, aclexplode(a.attacl) x
        where c.relnamespace = '{schema}'::regnamespace
        union all
        select 'routine ' || p.oid::regprocedure, x.privilege_type, x.grantee
        from pg_proc p, aclexplode(p.proacl) x
        where p.pronamespace = '{schema}'::regnamespace
        union all
        select format('schema %I', n.nspname), x.privilege_type, x.grantee
        from pg_namespace n, aclexplode(n.nspacl) x
        where n.oid = '{schema}'::regnamespace
      )
      select g.object, g.privilege
      from granted g join unnest(others) as other on g.grantee = to_regrole({schema}.role_of_interface(other))
      group by g.object, g.privilege
      having count(*) = cardinality(others);
      for found in select distinct object from pg_temp.shared_right loop
        execute format('revoke all on %s from %I', found.object, own_role);
      end loop;
      for found in select * from pg_temp.shared_right loop
        execute format('grant %s on %s to %I', found.privilege, found.object, own_role);
      end loop;
      drop table pg_temp.shared_right;

      for found in
        with policies as (
          select p.polrelid::regclass as relation, replace(p.polname, {schema}.role_of_interface(other), '{role}') as name, p.polpermissive, p.polcmd,
            replace(pg_get_expr(p.polqual, p.polrelid), quote_literal(other::text), '{interface}') as rows_used,
            replace(pg_get_expr(p.polwithcheck, p.polrelid), quote_literal(other::text), '{interface}') as rows_written
          from pg_policy p join unnest(others) as other on p.polroles = array[to_regrole({schema}.role_of_interface(other))::oid]
          join pg_class c on c.oid = p.polrelid
          where c.relnamespace = '{schema}'::regnamespace
        )
        select *, replace(policies.name, '{role}', own_role) as own_name
        from policies
        group by relation, policies.name, polpermissive, polcmd, rows_used, rows_written
        having count(*) = cardinality(others)
        order by relation::text, policies.name
      loop
        execute format('drop policy if exists %I on %s', found.own_name, found.relation);
        execute format('create policy %I on %s as %s for %s to %I', found.own_name, found.relation,
            case when found.polpermissive then 'permissive' else 'restrictive' end,
            case found.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
            own_role)
          || coalesce(' using (' || replace(found.rows_used, '{interface}', quote_literal(add_interface.name::text)) || ')', '')
          || coalesce(' with check (' || replace(found.rows_written, '{interface}', quote_literal(add_interface.name::text)) || ')', '');
      end loop;

      -- Entries about accounts of every interface are those of the triggers.
      select format('^(%s|client|credential)\.', string_agg(replace(i.name::text, '-', '_'), '|' order by i.name)) into pattern from {schema}.interface i;
      drop trigger merge_audit_claim on {schema}.audit_entry;
      execute format('create trigger merge_audit_claim before insert on {schema}.audit_entry
        for each row when (new.transaction_id is null and new.action ~ %L) execute function {schema}.merge_audit_claim()', pattern);
    end
    $$;

    -- The versions of the workers that run and render none of these event types: those of an interface that they do not know.
    create function webhook_workers_without(event_types text[]) returns table (version text)
    language sql stable
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      select distinct p.version
      from {schema}.app_process p
      join {schema}.app_contracts c on c.digest = p.digest
      where p.app = 'webhook-worker' and p.last_seen_at > clock_timestamp() - interval '150 seconds'
        and c.contracts::jsonb ? 'renders'
        and not exists (
          select from jsonb_array_elements(c.contracts::jsonb -> 'renders') as rendered
          where split_part(rendered ->> 'event', '@', 1) = any (event_types)
        )
      order by p.version
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function add_interface, role_of_interface, webhook_workers_without from public;
grant execute on function webhook_workers_without to lender_api, partner_api, operator;
