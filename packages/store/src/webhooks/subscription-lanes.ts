import type { RecordId } from '@deedwire/domain';
import type { Database } from '../store.ts';

/**
 * Holds lanes until the transaction ends, always in the same order, so that two transactions cannot wait for each other.
 * Served by webhook_lane_pkey.
 *
 * @returns the highest sequence given out, by subscription; a lane that is gone, because its subscription was deleted, is
 * not in it
 */
export async function lockLanes(
  database: Database,
  subscriptionIds: readonly RecordId<'WebhookSubscription'>[],
): Promise<Map<RecordId<'WebhookSubscription'>, bigint>> {
  const statement = {
    name: 'lock-lanes',
    text: `
      select subscription_id as "subscriptionId", last_sequence as "lastSequence"
      from webhook_lane
      where subscription_id = any ($1)
      order by subscription_id
      for no key update`,
  };
  const rows = await database.query<{ subscriptionId: RecordId<'WebhookSubscription'>; lastSequence: string }>(
    statement,
    [subscriptionIds],
  );
  return new Map(rows.map((row) => [row.subscriptionId, BigInt(row.lastSequence)]));
}

/** Deletes the lane of a deleted subscription: who held it can settle nothing any more. Served by webhook_lane_pkey. */
export async function deleteLane(database: Database, subscriptionId: RecordId<'WebhookSubscription'>): Promise<void> {
  const statement = { name: 'delete-lane', text: 'delete from webhook_lane where subscription_id = $1' };
  await database.query(statement, [subscriptionId]);
}

/** Served by webhook_pending_delivery_due. */
export async function deletePendingDeliveries(
  database: Database,
  subscriptionId: RecordId<'WebhookSubscription'>,
): Promise<void> {
  const statement = {
    name: 'delete-pending-deliveries',
    text: 'delete from webhook_pending_delivery where subscription_id = $1',
  };
  await database.query(statement, [subscriptionId]);
}
