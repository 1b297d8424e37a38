import { field } from './field.ts';
import { type AddJob, addJobs } from './job-inbox.ts';
import type { PostgresTransactions } from './postgres-connection.ts';
import type { PostgresTable } from './postgres-table.ts';

export interface MovedRows {
  /** How many deliveries got a job. */
  readonly jobs: number;
  /** How many ids of processed deliveries were moved. */
  readonly processed: number;
  /** How many deliveries remain: their handlers run in processes of the old inbox. */
  readonly running: number;
  /** How many deliveries remain because they had failed. */
  readonly failed: number;
}

const batch = 500;

/**
 * Moves the rows of the inbox that versions 1 of this package had (`postgresInbox`) to the inbox of a library for jobs. It can
 * run again after an interruption.
 *
 * @param from the old table, quoted
 * @param isWithFailed also moves the deliveries whose last retry failed
 */
export async function moveInbox<Transaction>(
  connection: PostgresTransactions<Transaction>,
  addJob: AddJob,
  { from, to: { name: to }, isWithFailed }: { from: string; to: PostgresTable; isWithFailed: boolean },
): Promise<MovedRows> {
  const moved = { jobs: 0, processed: 0 };
  for (let rows = batch; rows === batch;) {
    rows = await connection.transaction(async (opened) => {
      const query = (text: string, values: readonly unknown[]) => connection.query(opened, text, values);
      // A process of the old inbox locks the row of a handler that runs.
      const taken = await query(
        `select id from ${from} where state = any($1::text[]) order by received_at limit ${batch} for update skip locked`,
        [isWithFailed ? ['waiting', 'failed'] : ['waiting']],
      );
      const ids = taken.map((row) => field(row, 'id'));
      const inserted = await query(
        `insert into ${to} (id, body, unsigned, received_at)
        select id, body, unsigned, received_at from ${from} where id = any($1::text[])
        on conflict do nothing returning id`,
        [ids],
      );
      await addJobs(query, addJob, inserted);
      await query(`delete from ${from} where id = any($1::text[])`, [ids]);
      moved.jobs += inserted.length;
      return taken.length;
    });
  }
  return connection.transaction(async (opened) => {
    const [row] = await connection.query(
      opened,
      `with processed as (delete from ${from} where state = 'processed' returning id, received_at, ended_at),
      inserted as (
        insert into ${to} (id, received_at, processed_at) select id, received_at, ended_at from processed
        on conflict do nothing
      )
      select
        (select count(*)::int from processed) as processed,
        (select count(*)::int from ${from} where state = 'waiting') as running,
        (select count(*)::int from ${from} where state = 'failed') as failed`,
      [],
    );
    const count = (column: string): number => Number(field(row, column));
    return { ...moved, processed: count('processed'), running: count('running'), failed: count('failed') };
  });
}
