import type { Client } from 'pg';
import { withClient } from './database.ts';

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
