import type { EventSnapshots } from '@deedwire/actions';

export function render({ referral }: EventSnapshots['referral.created']) {
  return { referralId: referral.id, externalReference: referral.externalReference };
}
