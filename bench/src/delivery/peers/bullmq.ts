import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { PeerDelivery } from '../signed-post.ts';
import { concurrency, inChunks, type StartPeer } from './queue.ts';

const name = 'webhooks';

/** Jobs added in bulk, one worker with many jobs at a time, and the results kept, as ours and pg-boss keep them. */
export const startBullMq: StartPeer = async (storeUrl, post) => {
  const connect = () => new Redis(storeUrl, { maxRetriesPerRequest: null });
  const queue = new Queue<PeerDelivery, number>(name, { connection: connect() });
  let worker: Worker<PeerDelivery, number> | undefined;
  return {
    add: (deliveries) => inChunks(deliveries, (chunk) => queue.addBulk(chunk.map((data) => ({ name, data })))),
    async drain(deliveries) {
      const settled = Promise.withResolvers<void>();
      let left = deliveries;
      worker = new Worker<PeerDelivery, number>(name, ({ data }) => post(data), {
        connection: connect(),
        concurrency,
      });
      worker.on('error', settled.reject);
      worker.on('failed', (_job, error) => settled.reject(error));
      worker.on('completed', () => {
        left -= 1;
        if (left === 0) settled.resolve();
      });
      await settled.promise;
    },
    countUnsettled: () => queue.getJobCountByTypes('waiting', 'active', 'delayed', 'failed'),
    async rest() {
      await worker?.close();
    },
  };
};
