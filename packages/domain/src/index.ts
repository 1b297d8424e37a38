export { formatGid, gidNamespacePattern, parseGid, type GidTypeName, type RecordId } from './gid.ts';
export type { InterfaceName } from './interface-name.ts';
export {
  canCloseReferral,
  findReferralProblems,
  formatMatterReference,
  isDeclineReason,
  type ReferralDetails,
  type ReferralProblem,
  type ReferralStatus,
} from './referral.ts';
export { findTeamMemberProblems, isAccountName, teamMembersMax, type TeamMemberDetails } from './team.ts';
