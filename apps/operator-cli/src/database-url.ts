import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from './config.ts';

/** There is nothing to work on; the message says what to do. */
export class NoDatabaseError extends Error {
  override readonly name = 'NoDatabaseError';
}

const devFile = z.object({ databaseUrl: z.string() });

/**
 * DATABASE_URL, else the database of the `pnpm dev` that runs on the home.
 *
 * @throws {NoDatabaseError}
 */
export function findDatabaseUrl({ DATABASE_URL, DEEDWIRE_HOME }: Config): string {
  if (DATABASE_URL !== undefined) return DATABASE_URL;
  const path = join(DEEDWIRE_HOME ?? join(import.meta.dirname, '../../../.local'), 'dev.json');
  try {
    return devFile.parse(JSON.parse(readFileSync(path, 'utf8'))).databaseUrl;
  } catch (cause) {
    throw new NoDatabaseError(`No database: DATABASE_URL is not set, and no \`pnpm dev\` has written ${path}.`, {
      cause,
    });
  }
}
