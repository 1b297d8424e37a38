import { randomBytes } from 'node:crypto';
import { createTestDatabase, withClient } from '@deedwire/embedded-postgres';

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

/** Drops the roles with a prefix, after the databases in which they have rights. */
export async function dropRoles({ run }: EmptyDatabase, rolePrefix: string): Promise<void> {
  const rows = await run(`select quote_ident(rolname) as role from pg_roles where starts_with(rolname, $1)`, [
    rolePrefix,
  ]);
  for (const { role } of rows) await run(`drop owned by ${String(role)}; drop role ${String(role)}`);
}
