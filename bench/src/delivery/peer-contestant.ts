import { startChild } from '../child.ts';
import type { StoreUsage } from '../postgres.ts';
import type { Measurement } from '../rounds.ts';
import type { Defer } from '../with-cleanup.ts';
import type { PeerName } from './peer-names.ts';
import type { PeerRequest } from './peer-process.ts';
import type { DeliveryContestant } from './rate-rounds.ts';
import { firstReceiver, subscriptionCount } from './workloads.ts';

export interface PeerStore {
  url: string;
  usage(): Promise<StoreUsage>;
}

/** Starts the process of a peer. Its deliveries take turns over the receivers of the workload. */
export async function startPeerContestant(
  name: PeerName,
  store: PeerStore,
  origins: readonly string[],
  defer: Defer,
): Promise<DeliveryContestant> {
  const module = './delivery/peer-process.ts';
  const child = await startChild<PeerRequest, Measurement>(defer, module, name, store.url, JSON.stringify(origins));
  return {
    name,
    prepare(workload, deliveries) {
      const receivers = { firstReceiver: firstReceiver(workload), receivers: subscriptionCount(workload) };
      return child.ask({ request: 'add', deliveries, ...receivers });
    },
    async drain() {
      const measurement = await child.ask({ request: 'drain' });
      return { ...measurement, attempts: measurement.operations };
    },
    storeUsage: () => store.usage(),
  };
}
