import type { EventSnapshots } from '@deedwire/domain';

export function render({ referral, declinedAt, reason }: EventSnapshots['referral.declined']) {
  return { referralId: referral.id, externalReference: referral.externalReference, declinedAt, reason };
}
