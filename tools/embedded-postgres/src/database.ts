import { Client, escapeIdentifier } from 'pg';

/** Runs statements on a connection of their own. */
export async function withClient<T>(databaseUrl: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: databaseUrl });
  // A server that goes away while the connection idles is reported by the next statement.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The same server and login, another database. */
export function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** Creates a database on the server of `serverUrl` and returns its URL. */
export async function createDatabase(serverUrl: string, name: string, template = 'template1'): Promise<string> {
  await withClient(serverUrl, (client) =>
    client.query(`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(template)}`),
  );
  return urlOf(serverUrl, name);
}

/** Drops a database, whoever is connected to it. */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await withClient(serverUrl, (client) =>
    client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`),
  );
}
