/** What the lender interface and operators do with lenders and their team members. */
export { createLenderReader, type LenderContext } from './lender-reader.ts';
export { ownLender, type OwnLender, readLenderName } from './own-lender.ts';
export { updateLender } from './update-lender.ts';
export { findTeamMemberProblems, type TeamMemberDetails } from '../team/team-member.ts';
export {
  addTeamMember,
  listMembersOfLender,
  listTeamMembers,
  pageTeamMembers,
  removeTeamMember,
  type TeamMember,
  updateTeamMember,
} from '../team/team-members.ts';
