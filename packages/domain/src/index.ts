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
export { findTeamMemberProblems, isAccountName, TEAM_MEMBERS_MAX, type TeamMemberDetails } from './team.ts';
