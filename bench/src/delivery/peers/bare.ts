import type { PeerDelivery } from '../signed-post.ts';
import { concurrency, type StartPeer } from './queue.ts';

/** No queue: the limit. */
export const startBare: StartPeer = async (_storeUrl, post) => {
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
