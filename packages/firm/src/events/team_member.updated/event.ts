import { defineEvent, type SnapshotOf } from '@deedwire/core';
import * as z from 'zod';
import { changed, lender, ofMember, sampleLender, sampleTeamMember, teamMember } from '../parts.ts';

export const teamMemberUpdated = defineEvent('team_member.updated', {
  record: { type: 'TeamMember', id: ({ teamMember: { id } }) => id },
  ...ofMember,
  snapshot: z.object({ lender, teamMember, changed }),
  sample: (gidNamespace) => ({
    lender: sampleLender(gidNamespace),
    teamMember: sampleTeamMember(gidNamespace),
    changed: ['teamMember.email'],
  }),
});

export type Snapshot = SnapshotOf<typeof teamMemberUpdated>;
