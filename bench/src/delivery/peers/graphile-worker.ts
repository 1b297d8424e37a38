import { Logger, makeWorkerUtils, run, runOnce, WorkerPreset } from 'graphile-worker';
import { Pool } from 'pg';
import type { PeerDelivery, Post } from '../signed-post.ts';
import { concurrency, inChunks, type StartPeer, type TransactionalQueue } from './queue.ts';

const task = 'webhook';
const localQueueSize = 500;
const addJob = `select graphile_worker.add_job('${task}', $1::json)`;

interface RefetchDelay {
  durationMs: number;
  /** Of the jobs of a fetch: with more of them, the next fetch follows at once. */
  threshold: number;
  /** Of the notifications after which the next fetch no longer waits. */
  maxAbortThreshold: number;
}

/** A local queue, and completed jobs recorded in batches. */
export const startGraphileWorker: StartPeer = async (storeUrl, post) => {
  const { utils, options, countUnsettled } = await install(storeUrl, post);
  return {
    async add(deliveries) {
      await inChunks(deliveries, (chunk) => utils.addJobs(chunk.map((payload) => ({ identifier: task, payload }))));
      // With statistics of an empty table, which autovacuum may have collected between two rounds, each fetch would read all jobs.
      await options.pgPool.query('analyze graphile_worker._private_jobs');
    },
    drain: () => runOnce(options),
    countUnsettled,
  };
};

/**
 * The same, but a fetch that does not fill the local queue delays the next one, so that each notification of a job does not
 * cause a fetch.
 */
export const transactionalGraphileWorker: TransactionalQueue = {
  startAdding: async () => ({
    add: (client, delivery) => client.query({ name: 'add-job', text: addJob, values: [JSON.stringify(delivery)] }),
    close: async () => {},
  }),
  async startWorking(databaseUrl, post) {
    const refetchDelay = { durationMs: 50, threshold: localQueueSize - 1, maxAbortThreshold: localQueueSize };
    const { options, countUnsettled } = await install(databaseUrl, post, refetchDelay);
    const { promise } = await run(options);
    // The process ends with the worker.
    void promise;
    return countUnsettled;
  },
};

async function install(databaseUrl: string, post: Post, refetchDelay?: RefetchDelay) {
  const logger = new Logger(() => () => {});
  const pgPool = new Pool({ connectionString: databaseUrl, max: 10 });
  // The running statement rejects with the same error.
  pgPool.on('error', () => {});
  pgPool.on('connect', (client) => client.on('error', () => {}));
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  const preset = {
    extends: [WorkerPreset],
    worker: {
      concurrentJobs: concurrency,
      localQueue: { size: localQueueSize, ...(refetchDelay && { refetchDelay }) },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  };
  const taskList = {
    [task]: async (payload: unknown) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this file is the only producer
      await post(payload as PeerDelivery);
    },
  };
  return {
    utils,
    options: { pgPool, logger, preset, taskList, noHandleSignals: true },
    countUnsettled: async (): Promise<number> => {
      const { rows } = await pgPool.query<{ count: number }>(
        'select count(*)::int as count from graphile_worker._private_jobs',
      );
      return rows[0]?.count ?? Number.NaN;
    },
  };
}
