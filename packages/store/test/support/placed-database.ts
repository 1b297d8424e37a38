import { randomBytes } from 'node:crypto';
import type { Service } from '@deedwire/core';
import { createTestDatabase, withClient } from '@deedwire/embedded-postgres';
import { escapeIdentifier } from 'pg';
import { applyMigrations, groupRolesOf, migrate, readMigrations, withSchema } from '../../src/index.ts';
import { migratedRoles, rightsOf } from '../../src/migrations/rights.ts';
import { withStore } from './database.ts';

/** Of the roles of one database. */
export const newRolePrefix = (): string => `p${randomBytes(4).toString('hex')}_`;

/** An empty database, and what runs statements there as the superuser. */
export async function createEmptyDatabase() {
  const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  const { databaseUrl } = database;
  const run = (text: string, values: unknown[] = []) =>
    withClient(databaseUrl, async (client) => (await client.query<Record<string, unknown>>(text, values)).rows);
  return { databaseUrl, name: new URL(databaseUrl).pathname.slice(1), run, close: () => database.drop() };
}

export type EmptyDatabase = Awaited<ReturnType<typeof createEmptyDatabase>>;

/**
 * Creates the tables of a service in another schema. The migrations of before name `public`, and grant to roles without prefix: the rights and
 * the policies of these pass to the roles with the prefix.
 */
export async function placeService(
  { databaseUrl, run }: EmptyDatabase,
  service: Service,
  { schema, rolePrefix }: { schema: string; rolePrefix: string },
): Promise<void> {
  const own = escapeIdentifier(schema);
  const migrations = (await readMigrations()).map((migration, index) => ({
    ...migration,
    sql:
      migration.sql.replaceAll('set search_path = public', `set search_path = ${own}`) +
      (index === 0 ? `-- current_setting('deedwire.role_prefix')\n` : ''),
  }));
  await applyMigrations(databaseUrl, migrations, { schema }, service);
  if (rolePrefix === '') return;
  const kinds = [...new Set([...(await migratedRoles()), ...groupRolesOf(service)])];
  const statements: string[] = [];
  for (const kind of kinds) {
    const role = rolePrefix + kind;
    statements.push(`create role ${role}`);
    for (const right of await withStore(withSchema(databaseUrl, schema), (store) => rightsOf(store, kind)))
      statements.push(`grant ${right} to ${role}`, `revoke ${right} from ${kind}`);
  }
  const policies = await run(
    `select format('alter policy %I on %I.%I to %s; alter policy %I on %I.%I rename to %I',
       policyname, schemaname, tablename, (select string_agg($2 || r, ', ') from unnest(roles) r),
       policyname, schemaname, tablename, $2 || policyname) as statement
     from pg_policies where schemaname = $1`,
    [schema, rolePrefix],
  );
  statements.push(
    ...policies.map(({ statement }) => String(statement)),
    `update installation set role_prefix = '${rolePrefix}'`,
    `create or replace function role_prefix() returns text language sql immutable return '${rolePrefix}'`,
  );
  await run(`set search_path = ${own}; ${statements.join(';')}`);
  await migrate(databaseUrl, service, { schema });
}

/** Drops the roles with a prefix, after the databases in which they have rights. */
export async function dropRoles({ run }: EmptyDatabase, rolePrefix: string): Promise<void> {
  const rows = await run(`select quote_ident(rolname) as role from pg_roles where starts_with(rolname, $1)`, [
    rolePrefix,
  ]);
  for (const { role } of rows) await run(`drop owned by ${String(role)}; drop role ${String(role)}`);
}
