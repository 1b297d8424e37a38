import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { forFile } from '@deedwire/testing/for-file';
import { Pool, type PoolConfig } from 'pg';
import { graphileWorkerInbox } from '../../src/graphile-worker.ts';
import { postgresKeptEvents, postgresStore } from '../../src/postgres.ts';
import { jobLibraries } from './job-libraries.ts';
import * as events from './order-events/index.ts';

/** Opens a database for a test file, with the tables of the kit and of the job libraries, and those that the statements create. */
export async function openDatabase(
  statements: string,
  config: PoolConfig = {},
): Promise<{ database: TestDatabase; pool: Pool }> {
  const database = await forFile(
    createTestDatabase({
      template: 'webhook_receiver',
      async prepare(connectionString) {
        for (const [, { install }] of jobLibraries) await install(connectionString);
        const prepared = new Pool({ connectionString });
        await postgresStore(prepared).createTable();
        await postgresKeptEvents(prepared).createTable();
        await graphileWorkerInbox(prepared, { events, on: {} }).createTable();
        await prepared.end();
      },
    }),
  );
  const pool = await forFile(new Pool({ connectionString: database.databaseUrl, ...config }));
  pool.on('error', () => {});
  await pool.query(statements);
  return { database, pool };
}
