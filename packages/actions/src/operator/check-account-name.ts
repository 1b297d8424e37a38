import { isAccountName } from '@deedwire/domain';
import { RefusedError } from '../errors.ts';

/** @throws RefusedError `INVALID` for what cannot be the name of an organization, a lender or a partner */
export function checkAccountName(name: string): void {
  if (!isAccountName(name)) throw new RefusedError('INVALID', 'The name must be 1 to 200 characters and not blank.');
}
