import { randomBytes } from 'node:crypto';
import { escapeIdentifier } from 'pg';
import type { ProvidedContext } from 'vitest';
import { createDatabase, dropDatabase, urlOf, withClient } from './database.ts';
import { createLogin, type DatabaseRole } from './login.ts';

export interface TestDatabase {
  /** As a superuser. */
  databaseUrl: string;
  /** As a login of its own in the group role, created on demand. */
  urlFor(role: DatabaseRole): Promise<string>;
  /** Ends its sessions too. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** Names what `prepare` does, `[a-z0-9_]+`: the template is made once per run and cloned from then on. */
  template: string;
  prepare: (databaseUrl: string) => Promise<void>;
}

/** A database of the caller's own on the run's server. Safe when many test files ask at once. */
export async function createTestDatabase({ template, prepare }: TestDatabaseOptions): Promise<TestDatabase> {
  const { url: serverUrl, namePrefix } = await runsServer();
  const templateName = `${namePrefix}template_${template}`;
  const name = `${namePrefix}${randomBytes(6).toString('hex')}`;
  await prepareTemplate(serverUrl, templateName, prepare);
  const databaseUrl = await createDatabase(serverUrl, name, templateName);
  const logins = new Map<DatabaseRole, Promise<string>>();
  return {
    databaseUrl,
    urlFor(role) {
      const login = logins.get(role) ?? createLogin(databaseUrl, `${name}_${role}`, role);
      logins.set(role, login);
      return login;
    },
    async drop() {
      await dropDatabase(serverUrl, name);
      const roles = [...logins.keys()].map((role) => escapeIdentifier(`${name}_${role}`));
      if (roles.length > 0) await withClient(serverUrl, (client) => client.query(`DROP ROLE ${roles.join(', ')}`));
    },
  };
}

/** One template at a time: `prepare` creates roles, which all databases of a server share. */
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
    // A template with a session in it cannot be cloned.
    await client.query(`ALTER DATABASE ${identifier} WITH ALLOW_CONNECTIONS false IS_TEMPLATE true`);
  });
}

/** Loaded when a test asks: what else this package does needs no test runner. */
async function runsServer(): Promise<ProvidedContext['postgres']> {
  const { inject } = await import('vitest');
  return inject('postgres');
}
