/**
 * Runs one peer in this process: `peer-process.ts <name> <URL of its store> <origins as JSON>`. The process ends when its
 * parent disconnects.
 */
import { randomUUID } from 'node:crypto';
import { event } from '../event.ts';
import { measure } from '../measure.ts';
import type { PeerRequest } from './peer-protocol.ts';
import { peers } from './peers/index.ts';
import { createPost, type PeerDelivery } from './signed-post.ts';

const [name = '', storeUrl = '', origins = '[]'] = process.argv.slice(2);
const start = new Map(Object.entries(peers)).get(name);
if (start === undefined) throw new Error(`There is no peer "${name}".`);
const peer = await start(storeUrl, createPost(JSON.parse(origins)));
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

process.on('message', (message: PeerRequest) => {
  void answer(message).then((response) => process.send?.(response));
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
