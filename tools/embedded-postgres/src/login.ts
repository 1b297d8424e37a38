import { randomBytes } from 'node:crypto';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { withClient } from './database.ts';

/**
 * Creates a login in a group role, or gives an existing login of this name a new password.
 *
 * @returns the URL of the database for this login
 */
export async function createLogin(databaseUrl: string, name: string, role: string): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  await withClient(databaseUrl, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
    const login = escapeIdentifier(name);
    if (rowCount === 0) await client.query(`CREATE ROLE ${login} LOGIN IN ROLE ${escapeIdentifier(role)}`);
    await client.query(`ALTER ROLE ${login} PASSWORD ${escapeLiteral(password)}`);
  });
  const url = new URL(databaseUrl);
  url.username = name;
  url.password = password;
  return url.href;
}
