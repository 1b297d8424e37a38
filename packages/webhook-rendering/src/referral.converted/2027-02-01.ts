import type { EventSnapshots } from '@deedwire/domain';

export function render({ referral, matter }: EventSnapshots['referral.converted']) {
  return {
    referral: { id: referral.id, status: referral.status, externalReference: referral.externalReference },
    matter: { id: matter.id, reference: matter.reference, openedAt: matter.openedAt },
  };
}
