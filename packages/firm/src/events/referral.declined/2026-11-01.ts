import type { Snapshot } from './event.ts';

export function render({ referral, declinedAt, reason }: Snapshot) {
  return { referralId: referral.id, externalReference: referral.externalReference, declinedAt, reason };
}
