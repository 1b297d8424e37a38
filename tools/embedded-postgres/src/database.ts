import { Client, DatabaseError, escapeIdentifier } from 'pg';

/** Opens a connection for `work` and closes it afterwards. */
export async function withClient<T>(databaseUrl: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: databaseUrl });
  // Without a listener, an error of the idle connection would end the process. The next statement reports the error.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The URL of another database on the same server, with the same login. */
export function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/**
 * Creates a database on the server of `serverUrl` and returns its URL. Copies files: for our templates of about 12 MB, that
 * takes two thirds of the time of writing each page to the log, and less than half while others write.
 */
export async function createDatabase(serverUrl: string, name: string, template = 'template1'): Promise<string> {
  await withClient(serverUrl, (client) =>
    client.query(`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(template)} STRATEGY FILE_COPY`),
  );
  return urlOf(serverUrl, name);
}

/**
 * Drops a database. PostgreSQL waits up to 5 s for its sessions to end, and then they are terminated. Without the wait, a client
 * that has closed its pool could still get the error of a terminated session, which no one handles.
 */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  const statement = `DROP DATABASE IF EXISTS ${escapeIdentifier(name)}`;
  await withClient(serverUrl, async (client) => {
    try {
      await client.query(statement);
    } catch (error) {
      const isInUse = error instanceof DatabaseError && error.code === '55006';
      if (!isInUse) throw error;
      await client.query(`${statement} WITH (FORCE)`);
    }
  });
}
