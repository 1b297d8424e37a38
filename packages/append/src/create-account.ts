import { call, requireSession, type Session } from './session.ts';

export interface NewAccount {
  interface: string;
  /** The id by which the application knows the account, of 1 to 200 bytes. `append` takes it. */
  externalId: string;
  name: string;
  /** The global identifier of its organization. Defaults to the only one, which `migrate` creates. */
  organization?: string;
}

/**
 * Creates an account in the transaction of the application. For an id that has an account already, it changes nothing.
 *
 * @returns the global identifier of the account
 * @throws {NotInTransactionError} if the account would be committed at once
 * @throws the error of the driver, with the SQLSTATE DW007 for a value that create_account() refuses
 */
export async function createAccount(session: Session, account: NewAccount): Promise<string> {
  requireSession(session);
  await session.requireTransaction();
  return call(session, 'create_account', {
    interface: { value: account.interface },
    externalId: { value: account.externalId },
    name: { value: account.name },
    organization: { value: account.organization ?? null },
  });
}
