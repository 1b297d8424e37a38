import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOfPostgresJs } from 'drizzle-orm/postgres-js';
import createKnex from 'knex';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import postgres from 'postgres';
import { fromDrizzle, fromKnex, fromKysely, fromPg, fromPostgresJs, fromQuery, type Session } from '../../src/index.ts';

/** Undoes a transaction or a savepoint of a driver that rolls back when its callback throws. */
class Undo extends Error {}

const ignoreUndo = (error: unknown): void => {
  if (!(error instanceof Undo)) throw error;
};

type Work = (session: Session) => Promise<void>;

/** What an application does with its driver. */
export interface OpenDriver {
  /** Runs work in a transaction, which is rolled back if the work throws. */
  transaction(work: (session: Session, undone: (inner: Work) => Promise<void>) => Promise<void>): Promise<unknown>;
  /** What is not a transaction: the pool, and a client of it. */
  outside: Session[];
  close(): Promise<unknown>;
}

const place = { schema: 'deedwire' };

async function openPg(url: string): Promise<OpenDriver> {
  const pool = new Pool({ connectionString: url });
  const idle = await pool.connect();
  return {
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await work(fromPg(client), async (inner) => {
          await client.query('savepoint s');
          await inner(fromPg(client));
          await client.query('rollback to savepoint s');
        });
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    outside: [fromPg(pool), fromPg(idle)],
    async close() {
      idle.release();
      await pool.end();
    },
  };
}

const otherOf = (client: Pick<Pool, 'query'>) =>
  fromQuery(async (text, values) => (await client.query<Record<string, unknown>>(text, [...values])).rows, place);

async function openQuery(url: string): Promise<OpenDriver> {
  const pool = new Pool({ connectionString: url });
  return {
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await work(otherOf(client), async (inner) => {
          await client.query('savepoint s');
          await inner(otherOf(client));
          await client.query('rollback to savepoint s');
        });
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    outside: [otherOf(pool)],
    close: () => pool.end(),
  };
}

async function openPostgresJs(url: string): Promise<OpenDriver> {
  const pool = postgres(url);
  const reserved = await pool.reserve();
  return {
    transaction: (work) =>
      pool.begin(async (tx) =>
        work(fromPostgresJs(tx), (inner) =>
          tx
            .savepoint(async (nested) => {
              await inner(fromPostgresJs(nested));
              throw new Undo();
            })
            .catch(ignoreUndo),
        ),
      ),
    outside: [fromPostgresJs(pool), fromPostgresJs(reserved)],
    async close() {
      reserved.release();
      await pool.end();
    },
  };
}

async function openDrizzle(url: string): Promise<OpenDriver> {
  const pool = new Pool({ connectionString: url });
  const database = drizzle(pool);
  return {
    transaction: (work) =>
      database.transaction(async (tx) =>
        work(fromDrizzle(tx, sql), (inner) =>
          tx
            .transaction(async (nested) => {
              await inner(fromDrizzle(nested, sql));
              throw new Undo();
            })
            .catch(ignoreUndo),
        ),
      ),
    outside: [fromDrizzle(database, sql)],
    close: () => pool.end(),
  };
}

async function openDrizzleOfPostgresJs(url: string): Promise<OpenDriver> {
  const pool = postgres(url);
  const database = drizzleOfPostgresJs(pool);
  return {
    transaction: (work) =>
      database.transaction(async (tx) =>
        work(fromDrizzle(tx, sql), (inner) =>
          tx
            .transaction(async (nested) => {
              await inner(fromDrizzle(nested, sql));
              throw new Undo();
            })
            .catch(ignoreUndo),
        ),
      ),
    outside: [fromDrizzle(database, sql)],
    close: () => pool.end(),
  };
}

async function openKysely(url: string): Promise<OpenDriver> {
  const database = new Kysely<Record<string, never>>({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: url }) }),
  });
  return {
    async transaction(work) {
      const trx = await database.startTransaction().execute();
      try {
        await work(fromKysely(trx, CompiledQuery), async (inner) => {
          const nested = await trx.savepoint('s').execute();
          await inner(fromKysely(nested, CompiledQuery));
          await nested.rollbackToSavepoint('s').execute();
        });
        await trx.commit().execute();
      } catch (error) {
        await trx.rollback().execute();
        throw error;
      }
    },
    outside: [fromKysely(database, CompiledQuery)],
    close: () => database.destroy(),
  };
}

async function openKnex(url: string): Promise<OpenDriver> {
  const knex = createKnex({ client: 'pg', connection: url });
  return {
    transaction: (work) =>
      knex.transaction(async (trx) =>
        work(fromKnex(trx), (inner) =>
          trx
            .transaction(async (nested) => {
              await inner(fromKnex(nested));
              throw new Undo();
            })
            .catch(ignoreUndo),
        ),
      ),
    outside: [fromKnex(knex)],
    close: () => knex.destroy(),
  };
}

export const drivers: [name: string, open: (url: string) => Promise<OpenDriver>][] = [
  ['pg', openPg],
  ['postgres.js', openPostgresJs],
  ['drizzle on pg', openDrizzle],
  ['drizzle on postgres.js', openDrizzleOfPostgresJs],
  ['kysely', openKysely],
  ['knex', openKnex],
  ['any other driver', openQuery],
];
