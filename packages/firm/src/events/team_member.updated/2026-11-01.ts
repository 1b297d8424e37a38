import { withChanged } from '@deedwire/core';
import { teamMemberUpdated } from './event.ts';

export const render = withChanged(teamMemberUpdated, ({ lender, teamMember }) => ({
  lenderId: lender.id,
  teamMember: {
    id: teamMember.id,
    firstName: teamMember.firstName,
    lastName: teamMember.lastName,
    email: teamMember.email,
  },
}));
