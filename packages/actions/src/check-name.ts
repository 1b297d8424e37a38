import { describeLength, isAccountName } from '@deedwire/domain';
import { RefusedError } from './errors.ts';

/** @throws {RefusedError} `INVALID` if the name of an organization, a lender or a partner is blank or too long */
export function checkName(name: string): void {
  if (isAccountName(name)) return;
  throw new RefusedError(
    'INVALID',
    `The name must be 1 to 200 characters and not blank. It has ${describeLength(name)}.`,
  );
}
