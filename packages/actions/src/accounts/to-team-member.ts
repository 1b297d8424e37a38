import { formatGid } from '@deedwire/domain';
import type { TeamMemberRow } from '@deedwire/store/team-members';
import type { TeamMember } from './records.ts';

export function toTeamMember(gidNamespace: string, row: TeamMemberRow): TeamMember {
  return {
    id: formatGid(gidNamespace, 'TeamMember', row.id),
    firstName: row.firstName,
    lastName: row.lastName,
    email: row.email,
  };
}
