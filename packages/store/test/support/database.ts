import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { Client } from 'pg';
import { migrate } from '../../src/index.ts';

/** A database of the test's own, with every migration applied. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ template: 'migrated', prepare: async (url) => void (await migrate(url)) });
}

/** Statements on a connection of their own, one after the other. */
export interface Connection {
  run(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function connect(databaseUrl: string): Promise<Connection> {
  const client = new Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  await client.connect();
  return {
    async run(sql, values = []) {
      const { rows } = await client.query<Record<string, unknown>>(sql, [...values]);
      return rows;
    },
    close: () => client.end(),
  };
}
