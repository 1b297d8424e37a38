import type { Snapshot } from './event.ts';

export function render({ referral, matter, convertedAt }: Snapshot) {
  return { referralId: referral.id, externalReference: referral.externalReference, matterId: matter.id, convertedAt };
}
