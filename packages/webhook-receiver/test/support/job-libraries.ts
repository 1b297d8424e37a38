import { randomUUID } from 'node:crypto';
import { Logger, run, runMigrations } from 'graphile-worker';
import type { Pool, PoolClient } from 'pg';
import { PgBoss } from 'pg-boss';
import { graphileWorkerInbox } from '../../src/graphile-worker.ts';
import type { JobInbox, JobInboxOptions } from '../../src/job-inbox.ts';
import { pgBossInbox } from '../../src/pg-boss.ts';
import type * as events from './order-events/index.ts';

/** An inbox with the library that runs its jobs. */
export interface OpenInbox {
  readonly inbox: JobInbox;
  /** Runs a job as the library would, once. */
  readonly runJob: (id: string, signal?: AbortSignal) => Promise<void>;
  /** Starts the library in this process. */
  readonly start: () => Promise<void>;
  /** Lets jobs that wait for a retry run at once. */
  readonly retryNow: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface JobLibrary {
  readonly install: (databaseUrl: string) => Promise<void>;
  readonly open: (pool: Pool, options: JobInboxOptions<typeof events, PoolClient>) => Promise<OpenInbox>;
  /** Counts the jobs that are not processed. */
  readonly jobs: string;
  /** Selects the messages of the errors of failed attempts. */
  readonly errors: string;
  /** Lets the jobs of a killed process run again, which the library does after some time. */
  readonly unlock: string;
}

const queue = 'webhook';

// The tests read what the inbox logs.
const silent = new Logger(() => () => {});

const graphileWorker: JobLibrary = {
  install: (connectionString) => runMigrations({ connectionString, logger: silent }),
  async open(pool, options) {
    const inbox = graphileWorkerInbox(pool, options);
    let runner: Awaited<ReturnType<typeof run>> | undefined;
    return {
      inbox,
      runJob: async (id, abortSignal = new AbortController().signal) =>
        inbox.taskList['webhook']?.({ id }, { abortSignal }),
      async start() {
        runner = await run({
          ...(pool.options.connectionString !== undefined && { connectionString: pool.options.connectionString }),
          taskList: inbox.taskList,
          concurrency: 4,
          pollInterval: 50,
          noHandleSignals: true,
          logger: silent,
        });
      },
      retryNow: async () => {
        await pool.query('update graphile_worker._private_jobs set run_at = now() where locked_at is null');
      },
      stop: async () => runner?.stop(),
    };
  },
  jobs: 'select count(*)::int as count from graphile_worker.jobs',
  errors: 'select last_error as error from graphile_worker.jobs where last_error is not null',
  unlock: `update graphile_worker._private_jobs set locked_at = null, locked_by = null, run_at = now()
    where locked_at is not null returning id`,
};

const pgBoss: JobLibrary = {
  async install(connectionString) {
    const boss = await new PgBoss({ connectionString, supervise: false, schedule: false }).start();
    await boss.createQueue(queue, { retryLimit: 20 });
    await boss.stop();
  },
  async open(pool, options) {
    const db = { executeSql: (text: string, values?: unknown[]) => pool.query(text, values) };
    const boss = new PgBoss({ db, supervise: false, schedule: false, migrate: false });
    // Before the start: what refuses the options would leave a library that runs until the end of the process.
    const inbox = pgBossInbox(pool, { ...options, boss });
    await boss.start();
    return {
      inbox,
      runJob: (id, signal = new AbortController().signal) => inbox.work([{ id: randomUUID(), data: { id }, signal }]),
      async start() {
        await boss.work(
          queue,
          { pollingIntervalSeconds: 0.5, localConcurrency: 4, batchSize: 50, burstWhenBatchFull: true },
          inbox.work,
        );
      },
      retryNow: async () => {},
      stop: () => boss.stop({ timeout: 5_000 }),
    };
  },
  jobs: `select count(*)::int as count from pgboss.job where state not in ('completed', 'cancelled')`,
  // Those of a batch are in one error.
  errors: `select distinct coalesce(single->>'message', output->>'message') as error from pgboss.job
    left join lateral jsonb_array_elements(output->'errors') as single on true where output is not null`,
  unlock: `update pgboss.job set state = 'retry', start_after = now() where state = 'active' returning id`,
};

export const jobLibraries: readonly (readonly [name: string, library: JobLibrary])[] = [
  ['graphile-worker', graphileWorker],
  ['pg-boss', pgBoss],
];
