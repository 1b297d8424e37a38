import { randomBytes } from 'node:crypto';
import { chmod, chown, copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError, escapeIdentifier, escapeLiteral } from 'pg';

/** A client, or a pool. */
export interface Session {
  query(text: string, values?: unknown[]): Promise<{ rowCount: number | null }>;
}

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
 * Creates a database. Copies files: for our templates of about 12 MB, that takes two thirds of the time of writing each page to
 * the log, and less than half while others write.
 */
export async function createDatabase(session: Session, name: string, template: string): Promise<void> {
  await session.query(
    `CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(template)} STRATEGY FILE_COPY`,
  );
}

/**
 * Drops a database. PostgreSQL waits up to 5 s for its sessions to end, and then they are terminated. Without the wait, a client
 * that has closed its pool could still get the error of a terminated session, which no one handles.
 */
export async function dropDatabase(session: Session, name: string): Promise<void> {
  const statement = `DROP DATABASE IF EXISTS ${escapeIdentifier(name)}`;
  try {
    await session.query(statement);
  } catch (error) {
    const isInUse = error instanceof DatabaseError && error.code === '55006';
    if (!isInUse) throw error;
    await session.query(`${statement} WITH (FORCE)`);
  }
}

/**
 * Creates a login in a group role, or gives an existing login of this name a new password.
 *
 * @returns the URL of the database for this login
 */
export function createLogin(databaseUrl: string, name: string, role: string): Promise<string> {
  return withClient(databaseUrl, (client) => createLoginBy(client, databaseUrl, name, role));
}

/** As `createLogin`, by a session of a superuser. */
export async function createLoginBy(
  session: Session,
  databaseUrl: string,
  name: string,
  role: string,
): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  const { rowCount } = await session.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
  const login = escapeIdentifier(name);
  if (rowCount === 0) await session.query(`CREATE ROLE ${login} LOGIN IN ROLE ${escapeIdentifier(role)}`);
  await session.query(`ALTER ROLE ${login} PASSWORD ${escapeLiteral(password)}`);
  const url = new URL(databaseUrl);
  url.username = name;
  url.password = password;
  return url.href;
}

/** Ends all other sessions of the database, as a failover would. Returns their number. */
export async function terminateBackends(databaseUrl: string): Promise<number> {
  const { rowCount } = await withClient(databaseUrl, (client) =>
    client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    ),
  );
  return rowCount ?? 0;
}

/**
 * Stops all processes of a server, so that it keeps its connections and accepts new ones, but responds to nothing. Only for a
 * server that the caller has started. Returns the function that lets them continue; call it before the server is stopped.
 *
 * @param serverUrl the URL for a superuser
 */
export async function freezeServer(serverUrl: string): Promise<() => void> {
  return withClient(serverUrl, async (client) => {
    const { rows } = await client.query<{ text: string }>(`SELECT pg_read_file('postmaster.pid') AS text`);
    const postmaster = Number(rows[0]?.text.split('\n')[0]);
    // First, so that no session begins after the sessions are listed.
    const thawPostmaster = freeze([postmaster]);
    const thawSessions = freeze(await otherProcesses(client, null));
    return () => {
      thawPostmaster();
      thawSessions();
    };
  });
}

/** Stops the server processes of an application's sessions, as `freezeServer` does. New sessions are not affected. */
export async function freezeSessions(serverUrl: string, applicationName: string): Promise<() => void> {
  return withClient(serverUrl, async (client) => freeze(await otherProcesses(client, applicationName)));
}

async function otherProcesses(client: Client, applicationName: string | null): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND ($1::text IS NULL OR application_name = $1)',
    [applicationName],
  );
  return rows.map(({ pid }) => pid);
}

function freeze(pids: readonly number[]): () => void {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // The process has ended.
      }
    }
  };
}

// Guards against hanging only: a server reads its files at once.
const enabledWithinMs = 60_000;

/**
 * Lets a server of this machine accept TLS connections. Others are still accepted.
 *
 * @param serverUrl the URL for a superuser
 * @param files paths of PEM files, which are copied to the data directory
 */
export async function enableTls(serverUrl: string, files: { certificate: string; key: string }): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    const directory = rows[0]?.data_directory ?? '';
    const { uid, gid } = await stat(directory);
    for (const [setting, file] of [
      ['ssl_cert_file', files.certificate],
      ['ssl_key_file', files.key],
    ] as const) {
      const path = join(directory, `${setting}.pem`);
      await copyFile(file, path);
      await chown(path, uid, gid);
      // PostgreSQL rejects keys that others can read.
      await chmod(path, 0o600);
      await client.query(`ALTER SYSTEM SET ${setting} = '${path}'`);
    }
    await client.query('ALTER SYSTEM SET ssl = on');
    await client.query('SELECT pg_reload_conf()');
  });
  const deadline = performance.now() + enabledWithinMs;
  while (!(await speaksTls(serverUrl))) {
    if (performance.now() > deadline) throw new Error('The server does not speak TLS. See its log.');
    await sleep(50);
  }
}

function speaksTls(serverUrl: string): Promise<boolean> {
  return withClient(
    serverUrl,
    async (client) => (await client.query<{ ssl: string }>('SHOW ssl')).rows[0]?.ssl === 'on',
  );
}
