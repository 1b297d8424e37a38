import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type ConstructorOptions, type Db, type Job, type JobResult, PgBoss } from 'pg-boss';
import type { PeerDelivery, Post } from '../signed-post.ts';
import { inChunks, type StartPeer, type TransactionalQueue } from './queue.ts';

const queue = 'webhooks';
const unfinishedJobs = `from pgboss.job where name = '${queue}' and state < 'completed'`;
const unfinished = `select exists (select ${unfinishedJobs}) as unfinished`;
const countUnfinished = `select count(*)::int as count ${unfinishedJobs}`;

const workOptions = { batchSize: 500, burstWhenBatchFull: true, localConcurrency: 2, perJobResults: true } as const;

/**
 * Batches of 500, fetched without a pause while they are full, and one result per job, because one receiver that fails must
 * not repeat the deliveries of the others. Two batches at a time: one is sent while the other is recorded.
 */
export const startPgBoss: StartPeer = async (storeUrl, post) => {
  const { boss, watcher, countUnsettled } = await install(storeUrl);
  return {
    add: (deliveries) =>
      inChunks(deliveries, (chunk) =>
        boss.insert(
          queue,
          chunk.map((data) => ({ data })),
        ),
      ),
    async drain(deliveries) {
      const sent = Promise.withResolvers<void>();
      let left = deliveries;
      await boss.work<PeerDelivery, number, typeof workOptions>(queue, workOptions, async (jobs) => {
        const results = await postAll(jobs, post);
        left -= jobs.length;
        if (left <= 0) sent.resolve();
        return results;
      });
      await sent.promise;
      while ((await watcher.query<{ unfinished: boolean }>(unfinished)).rows[0]?.unfinished) await sleep(2);
    },
    countUnsettled,
    rest: () => boss.offWork(queue),
  };
};

/** Batches of 100, so that more of them are full, and the shortest pause after one that is not. */
export const transactionalPgBoss: TransactionalQueue = {
  async startAdding(databaseUrl) {
    const boss = await startBoss(databaseUrl, { migrate: false, supervise: false, schedule: false });
    return {
      add(client, delivery) {
        // A prepared statement, which pg-boss itself does not use: the server would plan the same text for each job.
        const db: Db = { executeSql: (text, values = []) => client.query({ name: 'send-job', text, values }) };
        return boss.send(queue, delivery, { db });
      },
      close: () => boss.stop(),
    };
  },
  async startWorking(databaseUrl, post) {
    const { boss, countUnsettled } = await install(databaseUrl);
    const options = { ...workOptions, batchSize: 100, pollingIntervalSeconds: 0.5 };
    await boss.work<PeerDelivery, number, typeof options>(queue, options, (jobs) => postAll(jobs, post));
    return countUnsettled;
  },
};

async function install(databaseUrl: string) {
  const boss = await startBoss(databaseUrl, {});
  await boss.createQueue(queue);
  const watcher = new Client(databaseUrl);
  await watcher.connect();
  const countUnsettled = async (): Promise<number> =>
    (await watcher.query<{ count: number }>(countUnfinished)).rows[0]?.count ?? Number.NaN;
  return { boss, watcher, countUnsettled };
}

async function startBoss(databaseUrl: string, options: ConstructorOptions): Promise<PgBoss> {
  const boss = new PgBoss({ ...options, connectionString: databaseUrl });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  return boss;
}

function postAll(jobs: readonly Job<PeerDelivery>[], post: Post): Promise<JobResult[]> {
  return Promise.all(
    jobs.map(async ({ id, data }) => ({ id, status: 'completed', output: { status: await post(data) } })),
  );
}
