import type { Client } from 'pg';
import { createClient } from '../connections/connect.ts';
import { queryInTime } from '../statements/query-in-time.ts';

/** How long opening the connection, and then its first statement, may take: a pooler can accept a connection and never serve it. */
const openTimeoutMs = 10_000;

export interface MigrationSession {
  lockMs: number;
  /** Cuts the connection, even while it opens. */
  signal?: AbortSignal;
}

/** Opens a session whose statements and transactions may take as long as they need. */
export async function openMigrationSession(databaseUrl: string, { lockMs, signal }: MigrationSession): Promise<Client> {
  const client = createClient(databaseUrl, {
    application_name: 'deedwire-migrate',
    connectionTimeoutMillis: openTimeoutMs,
    settings: { lock_timeout: lockMs, statement_timeout: 0, idle_in_transaction_session_timeout: 0 },
  });
  signal?.addEventListener('abort', () => client.connection.stream.destroy(), { once: true });
  try {
    await client.connect();
    // Unknown before PostgreSQL 17.
    const text = `select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'`;
    await queryInTime(client, { text }, openTimeoutMs);
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}
