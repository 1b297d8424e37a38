import { describeLength, isEmail, isText } from '@deedwire/core';

/** A person who works for a lender. */
export interface TeamMemberDetails {
  firstName: string;
  lastName: string;
  email: string;
}

/** Without what else a row or a record has. */
export function detailsOf({ firstName, lastName, email }: TeamMemberDetails): TeamMemberDetails {
  return { firstName, lastName, email };
}

/** The maximum number of team members of a lender. `Lender.members` is not paginated because of this bound. */
export const teamMembersMax = 250;

const nameMaxLength = 200;

/** Returns one message per invalid detail, or an empty list if the team member is valid. */
export function findTeamMemberProblems(details: TeamMemberDetails): string[] {
  const problems: string[] = [];
  if (!isText(details.firstName, nameMaxLength)) {
    problems.push(
      `The first name must be 1 to 200 characters and not blank. It has ${describeLength(details.firstName)}.`,
    );
  }
  if (!isText(details.lastName, nameMaxLength)) {
    problems.push(
      `The last name must be 1 to 200 characters and not blank. It has ${describeLength(details.lastName)}.`,
    );
  }
  if (!isEmail(details.email)) {
    problems.push(
      `The email must be a valid address of at most 254 characters. It has ${describeLength(details.email)}.`,
    );
  }
  return problems;
}
