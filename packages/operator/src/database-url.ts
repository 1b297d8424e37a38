import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandNames } from '@deedwire/core';
import { appVariables, databaseTlsProblem, inSchema } from '@deedwire/service-runtime';
import { z } from 'zod';
import type { Config } from './config.ts';

/** Neither DATABASE_URL nor a running development environment provides a database. */
class NoDatabaseError extends Error {
  override readonly name = 'NoDatabaseError';
}

const devFile = z.object({
  databaseUrl: z.string(),
  webhookSecretKeys: appVariables.WEBHOOK_SECRET_KEYS.optional(),
});

/**
 * Returns DATABASE_URL, or the database of the running development environment if that is not set.
 *
 * @throws {NoDatabaseError} if there is neither, or the connection to the database of development is not protected.
 */
export function findDatabaseUrl(config: Config): string {
  if (config.DATABASE_URL !== undefined) return config.DATABASE_URL;
  const path = devFilePath(config);
  const { databaseUrl: url } = readDevFile(path);
  const problem = databaseTlsProblem(url, config);
  if (problem !== null) throw new NoDatabaseError(`The database in ${path} ${problem}, or NODE_ENV=development.`);
  return url;
}

/** The URL of a direct connection to that database. @throws {NoDatabaseError} as `findDatabaseUrl` does */
export function findDirectUrl(config: Config): string {
  return inSchema(config.DATABASE_DIRECT_URL ?? findDatabaseUrl(config), config);
}

/** WEBHOOK_SECRET_KEYS, or the keys of the running development environment if its database is used. Undefined if there are none. */
export function findSecretKeys(config: Config): Config['WEBHOOK_SECRET_KEYS'] {
  const { WEBHOOK_SECRET_KEYS: keys, DATABASE_URL: databaseUrl } = config;
  return keys !== undefined || databaseUrl !== undefined ? keys : readDevFile(devFilePath(config)).webhookSecretKeys;
}

function devFilePath({ DEEDWIRE_HOME: home = join(import.meta.dirname, '../../../.local') }: Config): string {
  return join(home, 'dev.json');
}

function readDevFile(path: string): z.output<typeof devFile> {
  try {
    return devFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const message = `No database: DATABASE_URL is not set, and ${path} does not exist or is invalid. Set DATABASE_URL, or run \`${commandNames().dev}\`.`;
    throw new NoDatabaseError(message, { cause });
  }
}
