/**
 * Runs one peer in this process: `peer-process.ts <name> <URL of its store> <endpoints as JSON>`. Its first message is the id of the
 * process of its store, if it has started one.
 */
import { randomUUID } from 'node:crypto';
import { serveParent } from '../child.ts';
import { measure } from '../rounds.ts';
import { event } from '../signed-headers.ts';
import type { PeerName } from './peer-names.ts';
import { startBullMq } from './peers/bullmq.ts';
import { startGraphileWorker } from './peers/graphile-worker.ts';
import { startPgBoss } from './peers/pg-boss.ts';
import { concurrency, type StartPeer } from './peers/queue.ts';
import { createPost, type PeerDelivery } from './signed-post.ts';

/** Adds deliveries that take turns over the receivers, or sends them, which is answered by a Measurement. */
export type PeerRequest =
  | { request: 'add'; deliveries: number; firstReceiver: number; receivers: number }
  | { request: 'drain' };

/** No queue: the limit. */
const startBare: StartPeer = async (_storeUrl, post) => {
  let waiting: readonly PeerDelivery[] = [];
  return {
    async add(deliveries) {
      waiting = [...waiting, ...deliveries];
    },
    async drain() {
      const next = waiting.values();
      waiting = [];
      const send = async () => {
        for (const delivery of next) await post(delivery);
      };
      await Promise.all(Array.from({ length: concurrency }, send));
    },
    countUnsettled: async () => waiting.length,
  };
};

const peers: Readonly<Record<PeerName, StartPeer>> = {
  bare: startBare,
  'pg-boss': startPgBoss,
  'graphile-worker': startGraphileWorker,
  bullmq: startBullMq,
};

const [name = '', storeUrl = '', endpoints = '[]'] = process.argv.slice(2);
const start = new Map(Object.entries(peers)).get(name);
if (start === undefined) throw new Error(`There is no peer "${name}".`);
const peer = await start(storeUrl, createPost(JSON.parse(endpoints)));
const body = event.toString();

let added = 0;

async function answer(message: PeerRequest): Promise<unknown> {
  if (message.request === 'add') {
    const { deliveries, firstReceiver, receivers } = message;
    const work = Array.from({ length: deliveries }, (_, index): PeerDelivery => ({
      webhookId: `gid://service/WebhookDelivery/${randomUUID()}`,
      receiver: firstReceiver + (index % receivers),
      body,
    }));
    await peer.add(work);
    added += deliveries;
    return 'added';
  }
  const deliveries = added;
  added = 0;
  const measurement = await measure(async () => {
    await peer.drain(deliveries);
    return deliveries;
  });
  const unsettled = await peer.countUnsettled();
  await peer.rest?.();
  if (unsettled !== 0) throw new Error(`${name}: ${unsettled} deliveries have no result.`);
  return measurement;
}

serveParent(String(peer.storePid ?? ''), answer);
