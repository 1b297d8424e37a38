import type { Client } from 'pg';
import { createClient } from './connect.ts';

/** Opens a session whose statements and transactions may take as long as they need. */
export async function openMigrationSession(databaseUrl: string, lockMs: number): Promise<Client> {
  const client = createClient(databaseUrl, {
    application_name: 'deedwire-migrate',
    settings: { lock_timeout: lockMs, statement_timeout: 0, idle_in_transaction_session_timeout: 0 },
  });
  try {
    await client.connect();
    // Unknown before PostgreSQL 17.
    await client.query(`select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'`);
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}
