import type { Snapshot } from './event.ts';

export function render({ lender, teamMember }: Snapshot) {
  return { lenderId: lender.id, teamMemberId: teamMember.id };
}
