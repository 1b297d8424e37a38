import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AppliedMigration } from './pending-migrations.ts';

export interface Migration extends AppliedMigration {
  sql: string;
}

const migrationsOfPlatform = new URL('../../migrations/', import.meta.url);

/**
 * Reads the migrations of a folder, in the order of their names. Defaults to those of the platform in this build.
 *
 * @throws {Error} if there is no such folder
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
      return { name: file.slice(0, -'.sql'.length), sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
