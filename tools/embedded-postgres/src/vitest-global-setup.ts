import { randomBytes } from 'node:crypto';
import { escapeIdentifier } from 'pg';
import type { TestProject } from 'vitest/node';
import { dropDatabase, withClient } from './database.ts';
import { startPostgres } from './start-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The run's server, and what the names of all databases and logins of the run begin with. */
    postgres: { url: string; namePrefix: string };
  }
}

/** One PostgreSQL server for the whole run: an own one, or the one that TEST_DATABASE_URL names (as a superuser). */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const namePrefix = `deedwire_test_${randomBytes(3).toString('hex')}_`;
  // oxlint-disable-next-line node/no-process-env -- the test run's own configuration is read here and nowhere else
  const givenUrl = process.env['TEST_DATABASE_URL'];
  if (givenUrl) {
    project.provide('postgres', { url: givenUrl, namePrefix });
    return () => removeAll(givenUrl, namePrefix);
  }
  const server = await startPostgres();
  project.provide('postgres', { url: server.url, namePrefix });
  return () => server.stop();
}

/** Leaves somebody else's server as it was found, but for the group roles, which belong to no run. */
async function removeAll(serverUrl: string, namePrefix: string): Promise<void> {
  const databases = await namesOf(
    serverUrl,
    'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
    namePrefix,
  );
  for (const database of databases) {
    await withClient(serverUrl, (client) =>
      client.query(`ALTER DATABASE ${escapeIdentifier(database)} IS_TEMPLATE false`),
    );
    await dropDatabase(serverUrl, database);
  }
  const roles = await namesOf(
    serverUrl,
    'SELECT rolname AS name FROM pg_roles WHERE starts_with(rolname, $1)',
    namePrefix,
  );
  for (const role of roles)
    await withClient(serverUrl, (client) => client.query(`DROP ROLE ${escapeIdentifier(role)}`));
}

async function namesOf(serverUrl: string, query: string, namePrefix: string): Promise<string[]> {
  const { rows } = await withClient(serverUrl, (client) => client.query<{ name: string }>(query, [namePrefix]));
  return rows.map((row) => row.name);
}
