import { escapeIdentifier } from 'pg';
import { connectionOptions } from './connection-options.ts';

/**
 * The search path of the platform's sessions: the schema of our tables alone, because everybody may create objects in others. `pg_temp` is
 * last: if it is not named, PostgreSQL looks there first.
 */
export const searchPathOf = (schema: string): string => `${escapeIdentifier(schema)}, pg_temp`;

/**
 * The URL of a direct connection whose sessions find the tables in this schema, whatever the login, the database, PGOPTIONS and the URL set. A
 * transaction pooler rejects it.
 *
 * @throws {DatabaseUrlError} as `connectionOptions` does
 */
export function withSchema(databaseUrl: string, schema: string): string {
  const [start = '', search] = databaseUrl.split('?', 2);
  const parameters = new URLSearchParams(search);
  const { options } = connectionOptions(databaseUrl);
  // The last of two equal settings counts. In this one, a backslash precedes a space.
  const path = searchPathOf(schema).replaceAll(/[\s\\]/g, String.raw`\$&`);
  parameters.set('options', `${options} -c search_path=${path}`.trim());
  // psql reads a plus as itself.
  return `${start}?${parameters.toString().replaceAll('+', '%20')}`;
}
