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
 * Stops all processes of a server that this process started, so that it keeps its connections and accepts new ones, but
 * responds to nothing. Returns the function that lets them continue. Call it before the server is stopped.
 *
 * @param serverUrl the URL for a superuser
 */
export async function freezeServer(serverUrl: string): Promise<() => void> {
  const pids = await withClient(serverUrl, async (client) => {
    const { rows: file } = await client.query<{ text: string }>(`SELECT pg_read_file('postmaster.pid') AS text`);
    const postmaster = Number(file[0]?.text.split('\n')[0]);
    // First, so that no session begins after the sessions are listed.
    process.kill(postmaster, 'SIGSTOP');
    const { rows } = await client.query<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
    );
    const sessions = rows.map(({ pid }) => pid);
    for (const pid of sessions) process.kill(pid, 'SIGSTOP');
    return [postmaster, ...sessions];
  });
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
