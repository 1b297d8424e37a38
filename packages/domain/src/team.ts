import { isEmail, isText } from './text.ts';

/** A person who works for a lender. */
export interface TeamMemberDetails {
  firstName: string;
  lastName: string;
  email: string;
}

/** The most people a lender can have: `Lender.members` is a plain list because it is bounded. */
export const teamMembersMax = 250;

const nameMaxLength = 200;

/** Every detail that cannot be kept, each in a sentence for people; none when the team member can be. */
export function findTeamMemberProblems(details: TeamMemberDetails): string[] {
  const problems: string[] = [];
  if (!isText(details.firstName, nameMaxLength))
    problems.push('The first name must be 1 to 200 characters and not blank.');
  if (!isText(details.lastName, nameMaxLength))
    problems.push('The last name must be 1 to 200 characters and not blank.');
  if (!isEmail(details.email)) problems.push('The e-mail must be an address of at most 254 characters.');
  return problems;
}

/** Whether this can be the name of an organization, a lender or a partner. */
export function isAccountName(name: string): boolean {
  return isText(name, nameMaxLength);
}
