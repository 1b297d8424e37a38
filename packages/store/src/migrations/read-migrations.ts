import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KnownMigration } from './pending-migrations.ts';

export interface Migration extends KnownMigration {
  sql: string;
  /**
   * Of a migration of an application: the migration of the platform that has made the same. Where that one was applied, this one is recorded
   * and not run.
   */
  replacedOfPlatform?: string;
}

/** The first line of a migration that makes what earlier files have made. */
const replaces = /^-- replaces (?:(all before it)|(\d{4}-[a-z0-9-]+) of the platform)\n/;

export const migrationsOfPlatform = new URL('../../migrations/', import.meta.url);

/**
 * Reads the migrations of a folder, in the order of their names. Defaults to those of the platform in this build.
 *
 * @throws {Error} if there is no such folder, or a file has another first line about what it replaces
 */
export async function readMigrations(folder = migrationsOfPlatform): Promise<Migration[]> {
  const path = fileURLToPath(folder);
  const names = await readdir(path).catch((cause: unknown) => {
    throw new Error(`The folder of migrations ${path} cannot be read.`, { cause });
  });
  const files = names.filter((file) => file.endsWith('.sql')).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const sql = await readFile(join(path, file), 'utf8');
      const name = file.slice(0, -'.sql'.length);
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex'), ...parseReplaced(name, sql) };
    }),
  );
}

function parseReplaced(name: string, sql: string): Pick<Migration, 'isBaseline' | 'replacedOfPlatform'> {
  if (!sql.startsWith('-- replaces')) return {};
  const [, allBefore, replacedOfPlatform] = replaces.exec(sql) ?? [];
  if (allBefore !== undefined) return { isBaseline: true };
  if (replacedOfPlatform !== undefined) return { replacedOfPlatform };
  throw new Error(
    `The first line of the migration ${name} must be "-- replaces all before it" or "-- replaces <name> of the platform".`,
  );
}
