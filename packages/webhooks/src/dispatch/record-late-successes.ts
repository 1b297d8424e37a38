import type { Store } from '@deedwire/store';
import type { DeliveryId } from '../ids.ts';
import type { WorkerId } from '../workers/worker-id.ts';
import { insertLateSuccesses, type LateSuccess } from './sql/insert-late-successes.ts';
import { lockLateDeliveries } from './sql/lock-late-deliveries.ts';
import { lockPendingDeliveries } from './sql/lock-pending-deliveries.ts';

/**
 * Records that deliveries were delivered, although another worker has recorded something else about them. Repeating it changes
 * nothing. A delivery whose partition was dropped is left out.
 *
 * Each statement sees what was committed before it started. So the locks come first: a result that another worker is recording
 * at this moment is either visible to the last statement, or changes nothing.
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
