import type { Snapshot } from './event.ts';

export function render({ referral, matter }: Snapshot) {
  return {
    referral: { id: referral.id, status: referral.status, externalReference: referral.externalReference },
    matter: { id: matter.id, reference: matter.reference, openedAt: matter.openedAt },
  };
}
