import { type Client, escapeIdentifier } from 'pg';
import { ObjectsOfAppsError } from '../kernel/errors.ts';

/** The tables that the worker owned before migration 0005, which takes them. */
const formerlyOfWorker = String.raw`^webhook_(event|payload|delivery|attempt)(_\d{8})?$`;

/**
 * Takes from the apps the right to create objects, and refuses a database in which the login of one owns some. Statements of a
 * migration could call a function of such a login with the rights of the owner. Its own statements resolve names in
 * `pg_catalog` only. Every login can create large objects and temporary objects, which no other session calls: they must not stop
 * migrations.
 *
 * @param groupRoles the names of the roles of the apps in this database
 * @throws {ObjectsOfAppsError}
 */
export async function refuseObjectsOfApps(client: Client, groupRoles: readonly string[]): Promise<void> {
  await client.query('begin');
  const { rows: places } = await client.query<{ schema: string }>('select current_schema() as schema');
  const schema = places[0]?.schema ?? '';
  await client.query('set local search_path = pg_catalog');
  const mayCreate = async (): Promise<string[]> => {
    const { rows } = await client.query<{ found: string }>(
      `with ${logins}
       select format('%s may create objects in schema %I', l.rolname, n.nspname) as found
       from logins l, pg_namespace n
       where n.nspname !~ '^pg_(toast_)?temp_' and has_schema_privilege(l.oid, n.oid, 'create')
       order by 1`,
      [groupRoles, schema],
    );
    return rows.map(({ found }) => found);
  };
  if ((await mayCreate()).length > 0) {
    await client.query(`revoke create on schema ${escapeIdentifier(schema)} from public`);
    const worker = groupRoles.find((role) => role.endsWith('webhook_worker')) ?? '';
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [worker]);
    if (rowCount === 1)
      await client.query(`revoke create on schema ${escapeIdentifier(schema)} from ${escapeIdentifier(worker)}`);
  }
  const { rows: owned } = await client.query<{ found: string }>(
    `with ${logins}
     select format('%s owns %s', l.rolname, pg_describe_object(d.classid, d.objid, d.objsubid)) as found
     from pg_shdepend d
     join logins l on l.oid = d.refobjid
     left join pg_class c on d.classid = 'pg_class'::regclass and c.oid = d.objid
     left join pg_namespace n on n.oid = c.relnamespace
     where d.refclassid = 'pg_authid'::regclass and d.deptype = 'o'
       and d.dbid = (select oid from pg_database where datname = current_database())
       and not coalesce(n.nspname = $2 and c.relkind in ('r', 'p') and c.relname ~ $3, false)
       and d.classid <> 'pg_largeobject'::regclass
       and coalesce((pg_identify_object(d.classid, d.objid, 0)).schema, '') !~ '^pg_(toast_)?temp'
     order by 1`,
    [groupRoles, schema, formerlyOfWorker],
  );
  const found = [...(await mayCreate()), ...owned.map((row) => row.found)];
  if (found.length > 0) throw new ObjectsOfAppsError(found);
  await client.query('commit');
}

/** The group roles of the apps and their members, without those that own everything anyway. */
const logins = `logins as (
  select r.oid, r.rolname
  from pg_roles r
  where not r.rolsuper and r.rolname <> current_user
    and r.oid is distinct from (
      select t.relowner from pg_class t join pg_namespace s on s.oid = t.relnamespace where s.nspname = $2 and t.relname = 'account'
    )
    and exists (select from pg_roles app where app.rolname = any($1) and pg_has_role(r.oid, app.oid, 'member'))
)`;
