import { withChanged } from '@deedwire/domain';
import type { Snapshot } from './event.ts';

export const render = withChanged(({ lender, teamMember }: Snapshot) => ({
  lenderId: lender.id,
  teamMember: {
    id: teamMember.id,
    firstName: teamMember.firstName,
    lastName: teamMember.lastName,
    email: teamMember.email,
  },
}));
