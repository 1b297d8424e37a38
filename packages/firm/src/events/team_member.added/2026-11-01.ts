import { publishedMember } from '../parts.ts';
import type { Snapshot } from './event.ts';

export function render({ lender, teamMember }: Snapshot) {
  return {
    lenderId: lender.id,
    teamMember: publishedMember(teamMember),
  };
}
