import type { EventPackage } from './events.ts';
import { field } from './field.ts';
import { type AddJob, jobInbox, type JobInbox, type JobInboxOptions } from './job-inbox.ts';
import type { PostgresClientOf, PostgresPool, PostgresTransactions } from './postgres-connection.ts';
import { quotedName } from './postgres-table.ts';

export { inboxSql, type JobInbox, type JobInboxOptions } from './job-inbox.ts';

export interface GraphileWorkerInboxOptions<Events extends EventPackage, Transaction> extends JobInboxOptions<
  Events,
  Transaction
> {
  /** The name of the task. Defaults to `webhook`. */
  task?: string;
  /** The schema of graphile-worker. Defaults to `graphile_worker`. */
  schema?: string;
  /** How often a job is tried. Defaults to 25, over about three days. */
  maxAttempts?: number;
}

export interface GraphileWorkerInbox extends JobInbox {
  /** Pass it to `run` of graphile-worker, alone or with your own tasks. */
  readonly taskList: Readonly<Record<string, GraphileWorkerTask>>;
}

/** A task as graphile-worker calls it. */
export type GraphileWorkerTask = (payload: unknown, helpers: { readonly abortSignal?: AbortSignal }) => Promise<void>;

/**
 * Stores deliveries in the receiver's PostgreSQL, as jobs of graphile-worker. A job runs at least once, and its handler runs in
 * one transaction with the mark that the delivery is processed. So the changes that it makes there are made exactly once.
 *
 * @param database a `Pool` of `pg`, whose clients are then the transactions, or the functions of another library
 * @throws {TypeError} if an option is malformed
 */
export function graphileWorkerInbox<Events extends EventPackage, Pool extends PostgresPool>(
  database: Pool,
  options: GraphileWorkerInboxOptions<Events, PostgresClientOf<Pool>>,
): GraphileWorkerInbox;
export function graphileWorkerInbox<Events extends EventPackage, Transaction>(
  database: PostgresTransactions<Transaction>,
  options: GraphileWorkerInboxOptions<Events, Transaction>,
): GraphileWorkerInbox;
export function graphileWorkerInbox(
  database: PostgresPool | PostgresTransactions<unknown>,
  options: GraphileWorkerInboxOptions<EventPackage, unknown>,
): GraphileWorkerInbox {
  const { task = 'webhook' } = options;
  const { runJob, ...inbox } = jobInbox(database, graphileWorkerJobs(options), options);
  return { ...inbox, taskList: { [task]: (payload, { abortSignal }) => runJob(payload, abortSignal) } };
}

export function graphileWorkerJobs({
  task = 'webhook',
  schema = 'graphile_worker',
  maxAttempts = 25,
}: {
  task?: string | undefined;
  schema?: string | undefined;
  maxAttempts?: number;
}): AddJob {
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1 || maxAttempts > 32_767)
    throw new TypeError('maxAttempts must be an integer from 1 to 32,767.');
  const statement = `select id::text from ${quotedName(schema)}.add_job($1::text, $2::json, max_attempts => $3::integer)`;
  return async (query, id) => {
    const [job] = await query(statement, [task, JSON.stringify({ id }), maxAttempts]);
    return field(job, 'id');
  };
}
