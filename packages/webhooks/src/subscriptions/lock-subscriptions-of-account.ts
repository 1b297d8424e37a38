import type { AccountId } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';

/**
 * Serializes the creation of subscriptions of an account until the transaction ends, so that their limit holds. Uses an
 * advisory lock, because an API may not lock rows of accounts.
 */
export async function lockSubscriptionsOfAccount(transaction: Transaction, accountId: AccountId): Promise<void> {
  const statement = {
    name: 'lock-subscriptions-of-account',
    text: `select pg_advisory_xact_lock(hashtextextended('webhook-subscriptions:' || $1::text, 0))`,
  };
  await transaction.query(statement, [accountId]);
}
