import { toRecordId } from '@deedwire/core';
import type { Connection } from '@deedwire/testing';
import type { InFlightDelivery } from '../../src/workers/sql/shard-rows.ts';

/** The key of a row of `seedPending`. */
export function pendingKey(deliveryNumber: number, timeoutMs = 5_000): InFlightDelivery {
  return { subscriptionId: toRecordId('1'), deliveryId: toRecordId(String(deliveryNumber)), timeoutMs };
}

/** Pending deliveries that are due, numbered from 1, of one subscription. There are no rows that they refer to. */
export async function seedPending(superuser: Connection, count: number): Promise<void> {
  await superuser.run(
    `insert into webhook_pending_delivery
       (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence, due_at,
        body_bytes)
     select 1, number, 1, 'customer', number, 'order.placed', '2026-11-01', now(), number, now(), 2
     from generate_series(1, $1) number`,
    [count],
  );
  await superuser.run('analyze webhook_pending_delivery');
}
