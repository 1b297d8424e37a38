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
