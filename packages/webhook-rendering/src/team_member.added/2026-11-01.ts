import type { EventSnapshots } from '@deedwire/domain';

export function render({ lender, teamMember }: EventSnapshots['team_member.added']) {
  return {
    lenderId: lender.id,
    teamMember: {
      id: teamMember.id,
      firstName: teamMember.firstName,
      lastName: teamMember.lastName,
      email: teamMember.email,
    },
  };
}
