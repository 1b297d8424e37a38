import type { EventSnapshots } from '@deedwire/actions';

export function render({ lender, teamMember }: EventSnapshots['team_member.removed']) {
  return { lenderId: lender.id, teamMemberId: teamMember.id };
}
