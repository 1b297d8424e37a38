import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import { createStore, databaseAddress, DatabaseUrlError, onlyRow, StoreUnavailableError } from '@deedwire/store';

/** TypeScript 5.6 does not know `rewriteRelativeImportExtensions`. The tests compile with this one and later ones. */
const oldestTypeScript = [5, 7] as const;
const oldestPostgres = 15;
const graphqlOfTypes = 17;

/**
 * Why the TypeScript of an application cannot compile the service. Null if it can, or none is installed: Node runs the file as it is.
 *
 * @param folder has the `package.json` of the application
 */
export function typeScriptProblem(folder: string): string | null {
  const version = installedVersion(folder, 'typescript');
  if (version === null) return null;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = oldestTypeScript;
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
    ? null
    : `TypeScript ${version} is installed in ${folder}, and the declarations of Deedwire need ${oldestTypeScript.join('.')} or later. Run: npm install --save-dev typescript@latest`;
}

/**
 * Why the types of an interface cannot be written in an application: npm installs no GraphQL Codegen beside an older graphql and the override of
 * this package, and other package managers give it the older one. Null if they can.
 *
 * @param folder has the `package.json` of the application
 */
export function graphqlProblem(folder: string): string | null {
  const version = installedVersion(folder, 'graphql');
  return version === null || Number.parseInt(version, 10) >= graphqlOfTypes
    ? null
    : `graphql ${version} is installed in ${folder}, and GraphQL Codegen, which writes the types of an interface, has to use graphql ${graphqlOfTypes}. Run the command in a folder apart, with its package.json, in which Deedwire is installed.`;
}

function installedVersion(folder: string, name: string): string | null {
  try {
    const manifest = findPackageJSON(name, join(folder, 'package.json'));
    if (manifest === undefined) return null;
    const { version }: { version: string } = JSON.parse(readFileSync(manifest, 'utf8'));
    return version;
  } catch {
    return null;
  }
}

/** Why the tables cannot be in a database. Null if they can. */
export async function databaseProblem(databaseUrl: string): Promise<string | null> {
  const version = await readVersion(databaseUrl).catch(async (error: unknown) => {
    if (!(error instanceof StoreUnavailableError || error instanceof DatabaseUrlError)) throw error;
    const { describeStartError } = await import('@deedwire/development');
    return describeStartError(error, databaseUrl);
  });
  if (typeof version === 'string')
    return `${version}. Or unset DATABASE_URL: \`deedwire dev\` can use an embedded database.`;
  return version >= oldestPostgres
    ? null
    : `PostgreSQL ${version} is at ${databaseAddress(databaseUrl)}, and Deedwire needs ${oldestPostgres} or later. Set DATABASE_URL to a database of a later server.`;
}

/** The major version of the server. */
async function readVersion(databaseUrl: string): Promise<number> {
  const store = createStore({ databaseUrl, applicationName: 'deedwire-init' });
  try {
    const text = `select current_setting('server_version_num')::int / 10000 as major`;
    return onlyRow(await store.query<{ major: number }>({ name: 'server-version', text }, [])).major;
  } finally {
    await store.close();
  }
}
