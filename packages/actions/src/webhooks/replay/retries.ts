import type { AccountId, InterfaceName } from '@deedwire/domain';
import { type Database, firstRow, onlyRow, type Transaction } from '@deedwire/store';
import type { DeliveryId, ReplayId, SubscriptionId } from '@deedwire/webhooks/tables';

/**
 * Counts the retries of an account within the last minute, up to `limit`. Until the transaction ends, no other one counts, so that
 * their limit holds. Uses an advisory lock, because an API may not lock rows of accounts. Served by webhook_retry_by_account.
 */
export async function countRecentRetries(
  transaction: Transaction,
  accountId: AccountId,
  limit: number,
): Promise<number> {
  const lock = {
    name: 'lock-retries-of-account',
    text: `select pg_advisory_xact_lock(hashtextextended('webhook-retries:' || $1::text, 0))`,
  };
  await transaction.query(lock, [accountId]);
  const statement = {
    name: 'count-recent-retries',
    text: `
      select count(*) filter (where created_at > now() - interval '1 minute')::int as count
      from (
        select created_at
        from webhook_replay
        where account_id = $1 and delivery_id is not null
        order by id desc
        limit $2
      ) latest`,
  };
  return onlyRow(await transaction.query<{ count: number }>(statement, [accountId, limit])).count;
}

/**
 * Asks the owner of the shard to send a delivery again. Returns false if it was asked before and has not done so yet. Call
 * `appendSubscriptionChange` in the same transaction.
 */
export async function insertRetry(
  transaction: Transaction,
  retry: {
    accountId: AccountId;
    interfaceName: InterfaceName;
    subscriptionId: SubscriptionId;
    deliveryId: DeliveryId;
  },
): Promise<boolean> {
  const statement = {
    name: 'insert-retry',
    text: `
      insert into webhook_replay (account_id, interface, subscription_id, delivery_id, only_failed, per_second, from_id, until_id,
        last_id)
      values ($1, $2, $3, $4, false, 1, $4, $4::bigint + 1, $4::bigint - 1)
      on conflict (delivery_id) where delivery_id is not null and ended_at is null and cancelled_at is null do nothing
      returning id`,
  };
  const { accountId, interfaceName, subscriptionId, deliveryId } = retry;
  const rows = await transaction.query<{ id: ReplayId }>(statement, [
    accountId,
    interfaceName,
    subscriptionId,
    deliveryId,
  ]);
  return firstRow(rows) !== null;
}

/** Deliveries with a smaller id have expired. */
export async function selectExpiredBefore(database: Database): Promise<DeliveryId> {
  const statement = { name: 'select-expired-before', text: 'select expired_before as id from webhook_retention' };
  return onlyRow(await database.query<{ id: DeliveryId }>(statement, [])).id;
}
