import type { Snapshot } from './event.ts';

export function render({ referral }: Snapshot) {
  return { referralId: referral.id, externalReference: referral.externalReference };
}
