import type { Store } from '@deedwire/store';
import type { WorkerId } from '../fence/worker-id.ts';
import type { DeliveryId } from '../kernel/ids.ts';
import { insertLateSuccesses, type LateSuccess } from './sql/insert-late-successes.ts';
import { lockLateDeliveries } from './sql/lock-late-deliveries.ts';
import { lockPendingDeliveries } from './sql/lock-pending-deliveries.ts';

/**
 * Records late successes: another worker has already recorded another result for these deliveries. Idempotent. Skips a
 * delivery whose partition was dropped.
 *
 * Each statement sees what was committed before it started, so the locks come first. A result that another worker is
 * recording at this moment is then either visible to the last statement, or writes nothing.
 *
 * @param successes in the order of subscription and delivery
 * @returns the deliveries whose attempt was not recorded before
 * @throws {FencedOutError} if the worker was declared dead
 */
export async function recordLateSuccesses(
  store: Store,
  workerId: WorkerId,
  successes: readonly LateSuccess[],
): Promise<DeliveryId[]> {
  return store.transaction(async (transaction) => {
    const existing = await lockLateDeliveries(
      transaction,
      workerId,
      successes.map(({ deliveryId }) => deliveryId),
    );
    const late = successes.filter(({ deliveryId }) => existing.has(deliveryId));
    if (late.length === 0) return [];
    await lockPendingDeliveries(transaction, late);
    return insertLateSuccesses(transaction, workerId, late);
  });
}
