import type { Pool, PoolClient } from 'pg';
import type { PostgresTransactions } from '../../src/postgres.ts';

/** The functions of a library that opens transactions itself, as Kysely, Drizzle and Prisma do. */
export function library(pool: Pool): PostgresTransactions<{ client: PoolClient }> {
  return {
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query('begin isolation level repeatable read');
        const result = await work({ client });
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback');
        // Some libraries wrap what the work throws.
        throw new Error('The transaction failed.', { cause: error });
      } finally {
        client.release();
      }
    },
    async query({ client }, text, values) {
      try {
        return (await client.query(text, [...values])).rows;
      } catch (error) {
        // As Drizzle does.
        throw new Error(`Failed query: ${text}\nparams: ${values.join(',')}`, { cause: error });
      }
    },
  };
}
