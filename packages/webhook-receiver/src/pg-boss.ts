import type { EventPackage } from './events.ts';
import { type AddJob, jobInbox, type JobInbox, type JobInboxOptions } from './job-inbox.ts';
import type { PostgresClientOf, PostgresPool, PostgresTransactions } from './postgres-connection.ts';

export { inboxSql, type JobInbox, type JobInboxOptions } from './job-inbox.ts';

/** The part of a `PgBoss` of pg-boss that the inbox uses. */
export interface PgBossQueues {
  send(
    queue: string,
    data: object,
    options: { db: { executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> } },
  ): Promise<string | null>;
  complete(queue: string, ids: string[]): Promise<unknown>;
}

export interface PgBossInboxOptions<Events extends EventPackage, Transaction> extends JobInboxOptions<
  Events,
  Transaction
> {
  /** An instance that is started. */
  boss: PgBossQueues;
  /** The queue, which has to exist. It determines the retries. Defaults to `webhook`. */
  queue?: string;
}

export interface PgBossInbox extends JobInbox {
  /** Pass it to `boss.work` with the name of the queue, and without `perJobResults`. Of a batch, it fails the jobs that failed. */
  readonly work: (jobs: readonly PgBossJob[]) => Promise<void>;
}

/** A job as pg-boss passes it. */
export interface PgBossJob {
  readonly id: string;
  readonly data: unknown;
  readonly signal: AbortSignal;
}

/**
 * Stores deliveries in the receiver's PostgreSQL, as jobs of pg-boss. A job runs at least once, and its handler runs in one
 * transaction with the mark that the delivery is processed. So the changes that it makes there are made exactly once.
 *
 * @param database a `Pool` of `pg`, whose clients are then the transactions, or the functions of another library. It has to
 *   connect to the database of pg-boss.
 * @throws {TypeError} if an option is malformed
 */
export function pgBossInbox<Events extends EventPackage, Pool extends PostgresPool>(
  database: Pool,
  options: PgBossInboxOptions<Events, PostgresClientOf<Pool>>,
): PgBossInbox;
export function pgBossInbox<Events extends EventPackage, Transaction>(
  database: PostgresTransactions<Transaction>,
  options: PgBossInboxOptions<Events, Transaction>,
): PgBossInbox;
export function pgBossInbox(
  database: PostgresPool | PostgresTransactions<unknown>,
  options: PgBossInboxOptions<EventPackage, unknown>,
): PgBossInbox {
  const { boss, queue = defaultQueue } = options;
  const { runJob, ...inbox } = jobInbox(database, pgBossJobs(options), options);
  return {
    ...inbox,
    async work(jobs) {
      const completed: string[] = [];
      const errors: unknown[] = [];
      for (const { id, data, signal } of jobs) {
        try {
          await runJob(data, signal);
          completed.push(id);
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length === 0) return;
      // After an error, pg-boss fails each job of the batch that is not completed. It has failed all jobs of one that it stopped.
      if (completed.length > 0 && jobs[0]?.signal.aborted !== true) await boss.complete(queue, completed);
      if (errors.length === 1) throw errors[0];
      throw new AggregateError(errors, `${errors.length} of ${jobs.length} jobs failed. The log has a line for each.`);
    },
  };
}

const defaultQueue = 'webhook';

export function pgBossJobs({ boss, queue = defaultQueue }: { boss: PgBossQueues; queue?: string | undefined }): AddJob {
  return (query, id) =>
    boss.send(
      queue,
      { id },
      { db: { executeSql: async (text, values = []) => ({ rows: [...(await query(text, values))] }) } },
    );
}
