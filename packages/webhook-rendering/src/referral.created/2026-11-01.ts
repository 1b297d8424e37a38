import type { EventSnapshots } from '@deedwire/domain';

export function render({ referral }: EventSnapshots['referral.created']) {
  return { referralId: referral.id, externalReference: referral.externalReference };
}
