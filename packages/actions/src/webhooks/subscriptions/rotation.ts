import type { Transaction } from '@deedwire/store';
import type { SubscriptionId } from '@deedwire/webhooks/tables';

/**
 * Replaces the secret of a subscription. With an overlap, both secrets sign until it has passed, and no rotation must be in
 * progress; without one, the new secret replaces all others. A rotation that has ended is completed. The subscription must be
 * locked. Served by webhook_subscription_pkey.
 */
export async function rotateSecret(
  transaction: Transaction,
  id: SubscriptionId,
  rotation: { secretCiphertext: Buffer; overlapSeconds: number },
): Promise<void> {
  const statement = {
    name: 'rotate-secret',
    text: `
      update webhook_subscription
      set
        secret_ciphertext = case
          when $3::int = 0 then $2::bytea
          when rotation_ends_at <= now() then next_secret_ciphertext
          else secret_ciphertext
        end,
        next_secret_ciphertext = case when $3 > 0 then $2 end,
        rotation_started_at = case when $3 > 0 then now() end,
        rotation_ends_at = case when $3 > 0 then now() + make_interval(secs => $3) end
      where id = $1`,
  };
  await transaction.query(statement, [id, rotation.secretCiphertext, rotation.overlapSeconds]);
}
