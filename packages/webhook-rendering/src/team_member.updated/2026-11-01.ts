import type { EventSnapshots } from '@deedwire/domain';
import { withChanged } from '../with-changed.ts';

export const render = withChanged(({ lender, teamMember }: EventSnapshots['team_member.updated']) => ({
  lenderId: lender.id,
  teamMember: {
    id: teamMember.id,
    firstName: teamMember.firstName,
    lastName: teamMember.lastName,
    email: teamMember.email,
  },
}));
