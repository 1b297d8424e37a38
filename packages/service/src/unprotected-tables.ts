import type { Service } from '@deedwire/core';
import { findUnprotectedTables as find } from '@deedwire/store';

/**
 * Tries whether a login of one interface reaches rows of the tables of another one, even if a right was granted to it by mistake. Each table that
 * own_table() has registered needs a row. Nothing stays changed.
 *
 * @param databaseUrl of a superuser, as that of an embedded database
 * @param schema of the tables. Defaults to the one of `migrate`
 * @returns a sentence for each table that is not protected. None: row-level security protects all of them
 */
export function findUnprotectedTables(
  databaseUrl: string,
  service: Service,
  schema: string = 'deedwire',
): Promise<string[]> {
  return find(databaseUrl, service, schema);
}
