import type { EventSnapshots } from '@deedwire/domain';

export function render({ referral, matter, convertedAt }: EventSnapshots['referral.converted']) {
  return { referralId: referral.id, externalReference: referral.externalReference, matterId: matter.id, convertedAt };
}
