import type { EventSnapshots } from '@deedwire/domain';

export function render({ lender, teamMember }: EventSnapshots['team_member.removed']) {
  return { lenderId: lender.id, teamMemberId: teamMember.id };
}
