import type { OperatorContext } from '../context.ts';
import type { Partner } from './account.ts';
import { createAccount } from './create-account.ts';

/** @throws {RefusedError} `INVALID` if the name is blank or too long, `NOT_FOUND` if the organization does not exist */
export async function createPartner(
  context: OperatorContext,
  input: { organizationId: string; name: string },
): Promise<Partner> {
  return createAccount(context, 'partner', input);
}
