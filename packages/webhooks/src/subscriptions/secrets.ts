import type { Database, Transaction } from '@deedwire/store';
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

/**
 * Replaces ciphertexts that are still the ones that were read. Passes over rows that others have locked, so it never waits
 * and no one waits longer for it than its transaction takes. Served by webhook_subscription_pkey.
 *
 * The plaintext stays the same, so workers need not be notified.
 *
 * @returns the number of replaced ciphertexts
 */
export async function replaceSubscriptionSecrets(
  transaction: Transaction,
  secrets: readonly { ref: SubscriptionId; read: Buffer; replacement: Buffer }[],
): Promise<number> {
  const statement = {
    name: 'replace-subscription-secrets',
    text: `
      with locked as (
        select s.id, r.replacement
        from unnest($1::bigint[], $2::bytea[], $3::bytea[]) as r (id, read, replacement)
        join webhook_subscription s on s.id = r.id and s.secret_ciphertext = r.read
        for no key update of s skip locked
      )
      update webhook_subscription s
      set secret_ciphertext = l.replacement
      from locked l
      where s.id = l.id
      returning s.id`,
  };
  const rows = await transaction.query(statement, [
    secrets.map(({ ref }) => ref),
    secrets.map(({ read }) => read),
    secrets.map(({ replacement }) => replacement),
  ]);
  return rows.length;
}
