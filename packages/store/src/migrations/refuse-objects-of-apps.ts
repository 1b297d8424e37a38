import { type Client, escapeIdentifier } from 'pg';
import { ObjectsOfAppsError } from '../kernel/errors.ts';

/** The tables that the worker owned before migration 0005, which takes them. */
const formerlyOfWorker = String.raw`^webhook_(event|payload|delivery|attempt)(_\d{8})?$`;

/**
 * Takes from everybody the right to create objects in the schema of the tables, which alone is in the search path, and refuses a database in
 * which the login of an app owns or may create some there. Statements of a migration could call a function of such a login with the rights of
 * the owner. Its own statements resolve names in `pg_catalog` only. Elsewhere, logins own what they like: an application may be in the same
 * database.
 *
 * @param groupRoles the names of the roles of the apps in this database
 * @throws {ObjectsOfAppsError}
 */
export async function refuseObjectsOfApps(client: Client, groupRoles: readonly string[]): Promise<void> {
  await client.query('begin');
  const { rows: places } = await client.query<{ schema: string }>('select current_schema() as schema');
  const schema = places[0]?.schema ?? '';
  await client.query('set local search_path = pg_catalog');
  const { rows: creators } = await client.query<{ creator: string }>(
    `select distinct case x.grantee when 0 then 'public' else x.grantee::regrole::text end as creator
     from pg_namespace n, aclexplode(n.nspacl) x
     where n.nspname = $1 and pg_has_role(n.nspowner, 'usage')
       and x.privilege_type = 'CREATE' and (x.grantee = 0 or x.grantee::regrole::text = any ($2))`,
    [schema, groupRoles],
  );
  for (const { creator } of creators)
    await client.query(`revoke create on schema ${escapeIdentifier(schema)} from ${creator}`);
  const { rows: found } = await client.query<{ found: string }>(
    `with ${logins}
     select format('%s may create objects in schema %I', l.rolname, n.nspname) as found, 1 as part
     from logins l, pg_namespace n
     where n.nspname = $2 and has_schema_privilege(l.oid, n.oid, 'create')
     union all
     select format('%s owns %s', l.rolname, pg_describe_object(d.classid, d.objid, d.objsubid)), 2
     from pg_shdepend d
     join logins l on l.oid = d.refobjid
     cross join pg_identify_object(d.classid, d.objid, 0) o
     left join pg_class c on d.classid = 'pg_class'::regclass and c.oid = d.objid
     left join pg_namespace n on d.classid = 'pg_namespace'::regclass and n.oid = d.objid
     where d.refclassid = 'pg_authid'::regclass and d.deptype = 'o'
       and d.dbid = (select oid from pg_database where datname = current_database())
       and coalesce(o.schema, n.nspname) = $2
       and not coalesce(c.relkind in ('r', 'p') and c.relname ~ $3, false)
     order by part, found`,
    [groupRoles, schema, formerlyOfWorker],
  );
  if (found.length > 0) throw new ObjectsOfAppsError(found.map((row) => row.found));
  await client.query('commit');
}

/** The group roles of the apps and their members, without those that own everything anyway. No role of applications is one. */
const logins = `logins as (
  select r.oid, r.rolname
  from pg_roles r
  where not r.rolsuper and r.rolname <> current_user
    and r.oid is distinct from (
      select t.relowner from pg_class t join pg_namespace s on s.oid = t.relnamespace where s.nspname = $2 and t.relname = 'account'
    )
    and exists (
      select from pg_roles app
      where pg_has_role(r.oid, app.oid, 'member') and (app.rolname = any($1) or exists (
        -- Of interfaces that this build does not create.
        select
        from pg_policy p
        join pg_class t on t.oid = p.polrelid and t.relname in ('account', 'webhook_event')
        join pg_namespace s on s.oid = t.relnamespace and s.nspname = $2
        where app.oid = any (p.polroles)
      ))
    )
)`;
