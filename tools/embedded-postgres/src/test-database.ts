import { randomBytes } from 'node:crypto';
import { escapeIdentifier, Pool } from 'pg';
import type { ProvidedContext } from 'vitest';
import { createDatabase, createLoginBy, dropDatabase, urlOf, withClient } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server of the test run, and the prefix of the names of its databases and logins. */
    postgres: { url: string; namePrefix: string };
  }
}

export interface TestDatabase {
  /** The URL for a superuser. */
  databaseUrl: string;
  /** The URL for a login in the group role. The login is created on the first call. */
  urlFor(role: string): Promise<string>;
  /** Ends the sessions of the database, and drops it and its logins. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** Name of the template, `[a-z0-9_]+`. Its first use in a test run prepares it; later uses only clone it. */
  template: string;
  prepare: (databaseUrl: string) => Promise<void>;
  /** Defaults to the server of the test run, which only test files can ask for. */
  server?: ProvidedContext['postgres'];
}

/** Creates a database on the server of the test run. Test files can call this concurrently. */
export async function createTestDatabase({ template, prepare, server }: TestDatabaseOptions): Promise<TestDatabase> {
  const { url: serverUrl, namePrefix } = server ?? (await serverOfRun());
  const templateName = `${namePrefix}template_${template}`;
  const name = `${namePrefix}${randomBytes(6).toString('hex')}`;
  const key = `${serverUrl} ${templateName}`;
  const preparing = prepared.get(key) ?? prepareTemplate(serverUrl, templateName, prepare);
  prepared.set(key, preparing);
  await preparing.catch((error: unknown) => {
    prepared.delete(key);
    throw error;
  });
  await createDatabase(poolOf(serverUrl), name, templateName);
  const databaseUrl = urlOf(serverUrl, name);
  const logins = new Map<string, Promise<string>>();
  return {
    databaseUrl,
    urlFor(role) {
      const login = logins.get(role) ?? createLoginBy(poolOf(serverUrl), databaseUrl, `${name}_${role}`, role);
      logins.set(role, login);
      return login;
    },
    async drop() {
      await dropDatabase(poolOf(serverUrl), name);
      const roles = [...logins.keys()].map((role) => escapeIdentifier(`${name}_${role}`));
      if (roles.length > 0) await poolOf(serverUrl).query(`DROP ROLE ${roles.join(', ')}`);
    },
  };
}

/** Of each server, by its URL. The sessions stay, because a new one costs far more than a statement. */
const pools = new Map<string, Pool>();

function poolOf(serverUrl: string): Pool {
  const known = pools.get(serverUrl);
  if (known !== undefined) return known;
  const pool = new Pool({ connectionString: serverUrl, max: 2, idleTimeoutMillis: 0, allowExitOnIdle: true });
  // A test may restart its server, which ends idle sessions.
  pool.on('error', () => {});
  pools.set(serverUrl, pool);
  return pool;
}

/** The templates that this process has found prepared. */
const prepared = new Map<string, Promise<void>>();

/** Serializes the preparation of templates, because `prepare` creates roles, which all databases of a server share. */
const templateLock = 0x7e5_7db;

async function prepareTemplate(
  serverUrl: string,
  name: string,
  prepare: TestDatabaseOptions['prepare'],
): Promise<void> {
  await withClient(serverUrl, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [templateLock]);
    const { rows } = await client.query<{ finished: boolean }>(
      'SELECT datistemplate AS finished FROM pg_database WHERE datname = $1',
      [name],
    );
    if (rows[0]?.finished) return;
    const identifier = escapeIdentifier(name);
    await client.query(`DROP DATABASE IF EXISTS ${identifier} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${identifier}`);
    await prepare(urlOf(serverUrl, name));
    // PostgreSQL cannot clone a template that has a session.
    await client.query(`ALTER DATABASE ${identifier} WITH ALLOW_CONNECTIONS false IS_TEMPLATE true`);
  });
}

/** Imports vitest on demand, because the rest of this package is used without a test runner. */
async function serverOfRun(): Promise<ProvidedContext['postgres']> {
  const { inject } = await import('vitest');
  return inject('postgres');
}
