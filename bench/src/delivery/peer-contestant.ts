import { startChild } from '../child.ts';
import type { Measurement } from '../measure.ts';
import type { StoreUsage } from '../postgres.ts';
import type { DeliveryContestant } from './contestant.ts';
import type { PeerRequest } from './peer-protocol.ts';
import type { PeerName } from './peers/index.ts';
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
): Promise<{ contestant: DeliveryContestant; close: () => Promise<void> }> {
  const { child } = await startChild<PeerRequest, string | Measurement>(
    './delivery/peer-process.ts',
    name,
    store.url,
    JSON.stringify(origins),
  );
  const contestant: DeliveryContestant = {
    name,
    async prepare(workload, deliveries) {
      const receivers = { firstReceiver: firstReceiver(workload), receivers: subscriptionCount(workload) };
      await child.ask({ request: 'add', deliveries, ...receivers });
    },
    async drain() {
      const measurement = await child.ask({ request: 'drain' });
      if (typeof measurement === 'string') throw new Error(`Unexpected response: ${measurement}`);
      return { ...measurement, attempts: measurement.operations };
    },
    storeUsage: () => store.usage(),
  };
  return { contestant, close: () => child.close() };
}
