import { type Database, firstRow, type Statement } from '@deedwire/store';
import type { AccountId, SubscriptionId } from '../../kernel/ids.ts';
import type { LaneId } from '../../kernel/lane-id.ts';

// webhook_subscription and webhook_pending_delivery by primary key.
const selectLaneStatement: Statement = {
  name: 'select-lane',
  text: `
    select account_id, paused_reason is null and deleted_at is null as is_active, deleted_at is not null as is_deleted,
      exists (select from webhook_pending_delivery p where p.subscription_id = s.id) as has_pending
    from webhook_subscription s
    where id = $1`,
};

export interface StoredLane {
  readonly laneId: LaneId;
  /** Neither paused nor deleted. */
  readonly isActive: boolean;
  readonly isDeleted: boolean;
  readonly hasPending: boolean;
}

/** Reads the state that decides whether a lane opens or closes. Null if the subscription does not exist. */
export async function selectLane(database: Database, subscriptionId: SubscriptionId): Promise<StoredLane | null> {
  const row = firstRow(
    await database.query<{ account_id: AccountId; is_active: boolean; is_deleted: boolean; has_pending: boolean }>(
      selectLaneStatement,
      [subscriptionId],
    ),
  );
  if (row === null) return null;
  return {
    laneId: { subscriptionId, accountId: row.account_id },
    isActive: row.is_active,
    isDeleted: row.is_deleted,
    hasPending: row.has_pending,
  };
}
