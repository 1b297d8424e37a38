/**
 * Runs the API or the worker of a peer in this process: `peer-process.ts api|worker <name> <URL of its database> <endpoints as
 * JSON>`. The worker must be ready before the API starts. The first message of the API is the URL of its route. Both answer
 * each message with the usage of the process, the worker as soon as each job has a result.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { serveParent } from '../../child.ts';
import { ownUsage } from '../../rounds.ts';
import { transactionalQueues } from '../peers/transactional.ts';
import { createPost } from '../signed-post.ts';
import { serveReferrals } from './api.ts';

const pollMs = 20;

const [role, name = '', databaseUrl = '', endpoints = '[]'] = process.argv.slice(2);
const queue = new Map(Object.entries(transactionalQueues)).get(name);
if (queue === undefined) throw new Error(`There is no peer "${name}".`);

let ready = 'ready';
let untilSettled = async (): Promise<void> => {};
if (role === 'api') ready = await serveReferrals(databaseUrl, await queue.startAdding(databaseUrl));
else {
  const countUnsettled = await queue.startWorking(databaseUrl, createPost(JSON.parse(endpoints)));
  untilSettled = async () => {
    while ((await countUnsettled()) > 0) await sleep(pollMs);
  };
}

serveParent(ready, () => untilSettled().then(ownUsage));
