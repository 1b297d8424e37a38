import { addressKey, formatAccountGid } from '@deedwire/core';
import { vacuumTables } from '@deedwire/store';
import { type ContactAccountRow, eraseContactEmails, selectContactAccounts } from '@deedwire/store/contact-emails';
import { findAccount } from '../accounts/accounts.ts';
import { nameOperator } from '../kernel/audit.ts';
import type { ActionContext, OperatorContext } from '../kernel/context.ts';
import { type OnProgress, unhurried } from '../kernel/unhurried.ts';
import type { PersonInput } from './find-person.ts';

/** The accounts that have an address among their contact addresses. Empty if a record names the person. */
export async function findContacts(context: ActionContext, input: PersonInput): Promise<ContactAccountRow[]> {
  if (input.address === undefined) return [];
  const only = input.accountId === undefined ? null : (await findAccount(context, null, input.accountId)).id;
  const rows = await selectContactAccounts(context.store, addressKey(input.address));
  return rows.filter(({ accountId }) => only === null || accountId === only);
}

export function contactAccountOf(context: ActionContext, { interfaceName, accountId }: ContactAccountRow): string {
  return formatAccountGid(context, interfaceName, accountId);
}

export interface EraseContactsOptions {
  address: string;
  /** A direct connection, for VACUUM. */
  directUrl: string;
  onProgress: OnProgress;
}

/** Deletes an address from the contact addresses of accounts. Returns the tables that the login of `directUrl` may not vacuum. */
export async function eraseContacts(
  context: OperatorContext,
  contacts: readonly ContactAccountRow[],
  { address, directUrl, onProgress }: EraseContactsOptions,
): Promise<string[]> {
  if (contacts.length === 0) return [];
  for (const { accountId } of contacts)
    await unhurried(() =>
      context.store.transaction(async (transaction) => {
        await nameOperator(transaction, context.operator, 'person.erase');
        await eraseContactEmails(transaction, addressKey(address), accountId);
      }),
    );
  return vacuumTables(directUrl, ['contact_email', 'contact_confirmation'], (each) => onProgress(`Vacuuming ${each}`));
}
