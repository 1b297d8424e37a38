import type { EventSnapshots } from '@deedwire/actions';

export function render({ referral, declinedAt, reason }: EventSnapshots['referral.declined']) {
  return { referralId: referral.id, externalReference: referral.externalReference, declinedAt, reason };
}
