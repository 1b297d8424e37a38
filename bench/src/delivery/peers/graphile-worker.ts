import { Logger, makeWorkerUtils, runOnce, WorkerPreset } from 'graphile-worker';
import { Pool } from 'pg';
import { inChunks } from '../in-chunks.ts';
import type { PeerDelivery } from '../signed-post.ts';
import { concurrency, type StartPeer } from './peer.ts';

const task = 'webhook';

/** A local queue of 500 jobs, and completed jobs recorded in batches. */
export const startGraphileWorker: StartPeer = async (storeUrl, post) => {
  const logger = new Logger(() => () => {});
  const pgPool = new Pool({ connectionString: storeUrl, max: 10 });
  // The running statement rejects with the same error.
  pgPool.on('error', () => {});
  pgPool.on('connect', (client) => client.on('error', () => {}));
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  const preset = {
    extends: [WorkerPreset],
    worker: { concurrentJobs: concurrency, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
  };
  const taskList = {
    [task]: async (payload: unknown) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `add` is the only producer
      await post(payload as PeerDelivery);
    },
  };
  return {
    async add(deliveries) {
      await inChunks(deliveries, 1000, (chunk) =>
        utils.addJobs(chunk.map((payload) => ({ identifier: task, payload }))),
      );
    },
    async drain() {
      await runOnce({ pgPool, logger, preset, taskList, noHandleSignals: true });
    },
    async countUnsettled() {
      const { rows } = await pgPool.query<{ count: number }>(
        'select count(*)::int as count from graphile_worker._private_jobs',
      );
      return rows[0]?.count ?? Number.NaN;
    },
  };
};
