import type { AccountId } from '@deedwire/domain';
import { firstRow, type Database } from '@deedwire/store';
import type { DeliveryId } from '../kernel/ids.ts';
import type { DeliveryRow } from './delivery-row.ts';
import { selectDeliveriesById } from './select-deliveries-by-id.ts';

/**
 * Returns null if the account has no such delivery, or has deleted its subscription.
 *
 * @param accountId null for any account
 */
export async function selectDelivery(
  database: Database,
  accountId: AccountId | null,
  id: DeliveryId,
): Promise<DeliveryRow | null> {
  return firstRow(await selectDeliveriesById(database, accountId, [id]));
}
