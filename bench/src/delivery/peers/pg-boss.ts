import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { PgBoss } from 'pg-boss';
import { inChunks } from '../in-chunks.ts';
import type { PeerDelivery } from '../signed-post.ts';
import type { StartPeer } from './peer.ts';

const queue = 'webhooks';
const unfinishedJobs = `from pgboss.job where name = '${queue}' and state < 'completed'`;
const unfinished = `select exists (select ${unfinishedJobs}) as unfinished`;
const countUnfinished = `select count(*)::int as count ${unfinishedJobs}`;

/**
 * Batches of 500, fetched without a pause while they are full, and one result per job, because one receiver that fails must
 * not repeat the deliveries of the others. Two batches at a time: one is sent while the other is recorded.
 */
export const startPgBoss: StartPeer = async (storeUrl, post) => {
  const boss = new PgBoss({ connectionString: storeUrl });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue(queue);
  const watcher = new Client(storeUrl);
  await watcher.connect();
  const options = { batchSize: 500, burstWhenBatchFull: true, localConcurrency: 2, perJobResults: true } as const;
  return {
    async add(deliveries) {
      await inChunks(deliveries, 1000, (chunk) =>
        boss.insert(
          queue,
          chunk.map((data) => ({ data })),
        ),
      );
    },
    async drain(deliveries) {
      const sent = Promise.withResolvers<void>();
      let left = deliveries;
      await boss.work<PeerDelivery, number, typeof options>(queue, options, async (jobs) => {
        const results = await Promise.all(
          jobs.map(async ({ id, data }) => ({
            id,
            status: 'completed' as const,
            output: { status: await post(data) },
          })),
        );
        left -= jobs.length;
        if (left <= 0) sent.resolve();
        return results;
      });
      await sent.promise;
      while ((await watcher.query<{ unfinished: boolean }>(unfinished)).rows[0]?.unfinished) await sleep(2);
    },
    async countUnsettled() {
      const { rows } = await watcher.query<{ count: number }>(countUnfinished);
      return rows[0]?.count ?? Number.NaN;
    },
    rest: () => boss.offWork(queue),
  };
};
