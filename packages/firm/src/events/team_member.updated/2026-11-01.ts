import { withChanged } from '@deedwire/core';
import { publishedMember } from '../parts.ts';
import { teamMemberUpdated } from './event.ts';

export const render = withChanged(teamMemberUpdated, ({ lender, teamMember }) => ({
  lenderId: lender.id,
  teamMember: publishedMember(teamMember),
}));
