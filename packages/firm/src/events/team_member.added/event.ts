import { defineEvent, type SnapshotOf } from '@deedwire/core';
import * as z from 'zod';
import { lender, ofMember, sampleLender, sampleTeamMember, teamMember } from '../parts.ts';

export const teamMemberAdded = defineEvent('team_member.added', {
  record: { type: 'TeamMember', id: ({ teamMember: { id } }) => id },
  ...ofMember,
  snapshot: z.object({ lender, teamMember }),
  sample: (gidNamespace) => ({ lender: sampleLender(gidNamespace), teamMember: sampleTeamMember(gidNamespace) }),
});

export type Snapshot = SnapshotOf<typeof teamMemberAdded>;
