import { formatGid } from '@deedwire/domain';
import type { LenderMemberRow } from '@deedwire/store/lenders';

/** `TeamMember` of the lender interface. */
export interface TeamMember {
  id: string;
  firstName: string;
  lastName: string;
  email: string;
}

export function toTeamMember(gidNamespace: string, row: LenderMemberRow): TeamMember {
  return {
    id: formatGid(gidNamespace, 'TeamMember', row.id),
    firstName: row.firstName,
    lastName: row.lastName,
    email: row.email,
  };
}
