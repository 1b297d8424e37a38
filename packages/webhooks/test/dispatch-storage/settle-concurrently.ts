import { seededRandom } from '@deedwire/testing';
import { expect } from 'vitest';
import { cleanLaneState } from '../../src/dispatch/lane-state.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { failure, type StorageWorld } from './support.ts';

/** Four settlers call `settle` with the same deliveries in different orders, `statements` times in all. A deadlock rejects. */
export async function settleConcurrently(world: StorageWorld, statements: number): Promise<void> {
  const random = seededRandom(1);
  const lanes = await Promise.all(Array.from({ length: 6 }, () => world.seedLane(20)));
  const attempts = new Map<string, PendingDelivery>();
  for (const { deliveries } of lanes) for (const delivery of deliveries) attempts.set(delivery.deliveryId, delivery);
  const ids = [...attempts.keys()];
  let started = 0;
  const settler = async (): Promise<void> => {
    while (started < statements) {
      started += 1;
      const chosen = new Set(Array.from({ length: 8 }, () => ids[Math.floor(random() * ids.length)] ?? ''));
      const lanesWithState = new Set<string>();
      const batch = [...chosen].map((id) => {
        const delivery = attempts.get(id);
        if (delivery === undefined) throw new Error('Unknown delivery.');
        const hasState = !lanesWithState.has(delivery.subscriptionId) && random() < 0.5;
        if (hasState) lanesWithState.add(delivery.subscriptionId);
        return failure(delivery, 0, { laneState: hasState ? cleanLaneState : null });
      });
      const results = await world.storage.settle(batch);
      for (const settlement of batch) {
        if (results.get(settlement) !== 'settled') continue;
        const { delivery } = settlement;
        attempts.set(delivery.deliveryId, { ...delivery, attempts: delivery.attempts + 1 });
      }
    }
  };
  await Promise.all([settler(), settler(), settler(), settler()]);
  // A deadlock would have rejected a call.
  for (const { lane, deliveries } of lanes) {
    const recorded = deliveries.reduce((sum, { deliveryId }) => sum + (attempts.get(deliveryId)?.attempts ?? 0), 0);
    expect(await world.counts(lane)).toEqual({ pending: 20, attempts: recorded, failed: 0 });
  }
}
