import type { Snapshot } from './event.ts';

export function render({ lender, teamMember }: Snapshot) {
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
