import type { AccountId, InterfaceName } from '@deedwire/core';
import { callFunction } from '../statements/call-function.ts';
import { type Database, onlyRow, sql } from '../statements/database.ts';

/** What a mail is about, besides a confirmation of its address. */
export const contactSubjects = ['DISRUPTED', 'PAUSED', 'RECOVERED', 'FAILED', 'KEY_EXPIRING'] as const;

export type ContactSubject = (typeof contactSubjects)[number];

export interface ContactEmailRow {
  email: string;
  confirmedAt: Date | null;
  /** When the mail server had refused the address too often. */
  stoppedAt: Date | null;
  unsubscribedFrom: ContactSubject[];
}

/** Those of an account, in the order in which they were added. Served by contact_email_by_account. */
export async function selectContactEmails(database: Database, accountId: AccountId): Promise<ContactEmailRow[]> {
  const statement = sql('select-contact-emails')`
      select email, confirmed_at as "confirmedAt", stopped_at as "stoppedAt", unsubscribed_from as "unsubscribedFrom"
      from contact_email
      where account_id = $1
      order by id`;
  return database.query<ContactEmailRow & Record<string, unknown>>(statement, [accountId]);
}

/** Why contact addresses were not replaced. */
export type ContactEmailsProblem = 'ACCOUNT_LIMIT' | 'ADDRESS_LIMIT' | 'MAIL_UNAVAILABLE' | 'NO_ACCOUNT';

/**
 * Replaces the contact addresses of an account. Has a confirmation sent to those that are not confirmed.
 *
 * @param contacts.hasPortal whether a portal serves the links
 * @returns why nothing was changed. Null: they were replaced
 */
export async function updateContactEmails(
  database: Database,
  accountId: AccountId,
  { emails, hasPortal }: { emails: readonly string[]; hasPortal: boolean },
): Promise<ContactEmailsProblem | null> {
  const values = [accountId, emails, hasPortal];
  return onlyRow(await callFunction<ContactEmailsProblem | null>(database, 'update_contact_emails', values));
}

/** Confirms the address to which the token with this hash was sent. False if the token is not valid. */
export async function confirmContactEmail(database: Database, tokenHash: Buffer): Promise<boolean> {
  return onlyRow(await callFunction<boolean>(database, 'confirm_contact_email', [tokenHash]));
}

/** Ends the mails with the subject of the mail that had the token with this hash. Returns it, or null if the token is not valid. */
export async function unsubscribeContactEmail(database: Database, tokenHash: Buffer): Promise<ContactSubject | null> {
  return onlyRow(await callFunction<ContactSubject | null>(database, 'unsubscribe_contact_email', [tokenHash]));
}

/** An account that has an address among its contact addresses. */
export interface ContactAccountRow {
  accountId: AccountId;
  interfaceName: InterfaceName;
}

/** Those with the address in any case of its letters, frozen or not. Served by contact_email_by_email. */
export async function selectContactAccounts(database: Database, email: string): Promise<ContactAccountRow[]> {
  const statement = sql('select-contact-accounts')`
      select account_id as "accountId", interface as "interfaceName"
      from contact_email
      where lower(email collate "C") = lower($1::text collate "C")
      order by account_id`;
  return database.query<ContactAccountRow & Record<string, unknown>>(statement, [email]);
}

/** Deletes an address from the contact addresses of an account, with what counts its confirmations. */
export async function eraseContactEmails(database: Database, email: string, accountId: AccountId): Promise<void> {
  await callFunction(database, 'erase_contact_emails', [email, accountId]);
}
