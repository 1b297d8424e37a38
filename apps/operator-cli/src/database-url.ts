import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from './config.ts';

/** Neither DATABASE_URL nor a running `pnpm dev` provides a database. */
class NoDatabaseError extends Error {
  override readonly name = 'NoDatabaseError';
}

const devFile = z.object({ databaseUrl: z.string() });

/**
 * Returns DATABASE_URL, or the database of the running `pnpm dev` if that is not set.
 *
 * @throws {NoDatabaseError} if there is neither.
 */
export function findDatabaseUrl({ DATABASE_URL, DEEDWIRE_HOME }: Config): string {
  if (DATABASE_URL !== undefined) return DATABASE_URL;
  const path = join(DEEDWIRE_HOME ?? join(import.meta.dirname, '../../../.local'), 'dev.json');
  try {
    return devFile.parse(JSON.parse(readFileSync(path, 'utf8'))).databaseUrl;
  } catch (cause) {
    const message = `No database: DATABASE_URL is not set, and ${path} does not exist or is invalid. Set DATABASE_URL, or run \`pnpm dev\`.`;
    throw new NoDatabaseError(message, { cause });
  }
}
