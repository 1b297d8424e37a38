import { type Database, onlyRow, type Transaction } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';

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

/**
 * Makes the new secrets of up to `batch` rotations that have ended the only ones, and erases those that a deletion by an
 * earlier release has left. Returns their number. Served by webhook_subscription_by_end_of_rotation.
 */
export async function endRotations(database: Database, batch: number): Promise<number> {
  const statement = { name: 'end-rotations', text: 'select webhook_end_rotations($1)::int as count' };
  return onlyRow(await database.query<{ count: number }>(statement, [batch])).count;
}
