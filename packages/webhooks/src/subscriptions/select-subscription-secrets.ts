import type { Database } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';

export interface SubscriptionSecretRow {
  id: SubscriptionId;
  /** Empty once the subscription is deleted. */
  secretCiphertext: Buffer;
}

/** A page of all subscriptions of all accounts, by id, also of deleted ones. Served by webhook_subscription_pkey. */
export async function selectSubscriptionSecrets(
  database: Database,
  after: SubscriptionId | null,
  limit: number,
): Promise<SubscriptionSecretRow[]> {
  const statement = {
    name: 'select-subscription-secrets',
    text: `
      select id, secret_ciphertext as "secretCiphertext"
      from webhook_subscription
      where id > $1
      order by id
      limit $2`,
    planning: 'in-index-order' as const,
  };
  return database.query<SubscriptionSecretRow>(statement, [after ?? 0, limit]);
}
