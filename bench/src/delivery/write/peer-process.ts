/**
 * Runs the API or the worker of a peer in this process: `peer-process.ts api|worker <name> <URL of its database> <origin of the
 * receiver>`. The worker must be ready before the API starts. The first message of the API is the URL of its route. Both answer
 * each message with the usage of the process, the worker as soon as each job has a result.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { serveParent } from '../../child.ts';
import { ownUsage } from '../../rounds.ts';
import type { WritePeerName } from '../peer-names.ts';
import { transactionalGraphileWorker } from '../peers/graphile-worker.ts';
import { transactionalPgBoss } from '../peers/pg-boss.ts';
import type { TransactionalQueue } from '../peers/queue.ts';
import { createPost } from '../signed-post.ts';
import { serveReferrals } from './api.ts';

const queues: Record<WritePeerName, TransactionalQueue> = {
  'pg-boss': transactionalPgBoss,
  'graphile-worker': transactionalGraphileWorker,
};
const pollMs = 20;

const [role, name = '', databaseUrl = '', origin = ''] = process.argv.slice(2);
const queue = new Map(Object.entries(queues)).get(name);
if (queue === undefined) throw new Error(`There is no peer "${name}".`);

let ready = 'ready';
let untilSettled = async (): Promise<void> => {};
if (role === 'api') ready = await serveReferrals(databaseUrl, await queue.startAdding(databaseUrl));
else {
  const countUnsettled = await queue.startWorking(databaseUrl, createPost([origin]));
  untilSettled = async () => {
    while ((await countUnsettled()) > 0) await sleep(pollMs);
  };
}

serveParent(ready, () => untilSettled().then(ownUsage));
