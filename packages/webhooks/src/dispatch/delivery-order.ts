import { compareIds } from '../kernel/id-order.ts';
import type { DeliveryKey } from './storage.ts';

/** The order in which every statement locks pending deliveries: their primary key. */
export function compareDeliveries(a: DeliveryKey, b: DeliveryKey): number {
  return compareIds(a.subscriptionId, b.subscriptionId) || compareIds(a.deliveryId, b.deliveryId);
}
