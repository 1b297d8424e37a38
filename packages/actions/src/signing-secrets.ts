import { secretAssociatedData } from '@deedwire/domain';
import type { SecretKeyRing } from '@deedwire/store';
import type { SubscriptionRow } from './webhooks/subscriptions/subscriptions.ts';

/** The secrets that sign requests to a subscription: two during a rotation. */
export function signingSecrets(
  keys: SecretKeyRing,
  { id, secretCiphertext, rotation }: SubscriptionRow,
): { secret: string; nextSecret?: string } {
  const decrypt = (ciphertext: Buffer): string => keys.decrypt(ciphertext, secretAssociatedData(id));
  const secret = decrypt(secretCiphertext);
  return rotation === null ? { secret } : { secret, nextSecret: decrypt(rotation.nextSecretCiphertext) };
}
