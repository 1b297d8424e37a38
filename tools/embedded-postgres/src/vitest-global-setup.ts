import { randomBytes } from 'node:crypto';
import { escapeIdentifier } from 'pg';
import type { TestProject } from 'vitest/node';
import { dropDatabase, withClient } from './database.ts';
import { startPostgres } from './start-postgres.ts';

/** Provides one PostgreSQL server for all projects of the test run: the one at TEST_DATABASE_URL (as a superuser), or a new one. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const run = project.vitest.getRootProject();
  if ('postgres' in run.getProvidedContext()) return undefined;
  const namePrefix = `deedwire_test_${randomBytes(3).toString('hex')}_`;
  const existingUrl = process.env['TEST_DATABASE_URL'];
  if (existingUrl) {
    run.provide('postgres', { url: existingUrl, namePrefix });
    return () => removeAll(existingUrl, namePrefix);
  }
  const server = await startPostgres();
  run.provide('postgres', { url: server.url, namePrefix });
  return () => server.stop();
}

/** Removes the databases and logins of this run from a shared server. Keeps the group roles, which other runs use. */
async function removeAll(serverUrl: string, namePrefix: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const namesOf = async (query: string): Promise<string[]> =>
      (await client.query<{ name: string }>(query, [namePrefix])).rows.map(({ name }) => name);
    for (const database of await namesOf('SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)')) {
      await client.query(`ALTER DATABASE ${escapeIdentifier(database)} IS_TEMPLATE false`);
      await dropDatabase(client, database);
    }
    for (const role of await namesOf('SELECT rolname AS name FROM pg_roles WHERE starts_with(rolname, $1)'))
      await client.query(`DROP ROLE ${escapeIdentifier(role)}`);
  });
}
