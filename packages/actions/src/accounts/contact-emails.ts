import { formatAccountGid } from '@deedwire/core';
import {
  confirmContactEmail as confirm,
  type ContactEmailRow,
  type ContactEmailsProblem,
  type ContactSubject,
  selectContactEmails,
  unsubscribeContactEmail as unsubscribe,
  updateContactEmails as update,
} from '@deedwire/store/contact-emails';
import { appendAuditEntry } from '../kernel/audit.ts';
import type { ActionContext, Caller, Operator, OperatorContext } from '../kernel/context.ts';
import { inputError, type MutationResult, orRefuse, type UserError } from '../kernel/errors.ts';
import { findAccount } from './accounts.ts';
import { hashOf, isToken, type PortalContext } from './portal-sessions.ts';

export { contactSubjects, type ContactSubject } from '@deedwire/store/contact-emails';

/** `ContactEmail`. */
export type ContactEmail = ContactEmailRow;

export const emailsPerAccount = 5;
const emailCharactersMax = 254;

/** The codes of `UpdateContactEmailsUserErrorCode`. */
export const contactEmailsErrorCodes = ['EMAIL_INVALID', 'LIMIT_REACHED', 'MAIL_UNAVAILABLE'] as const;

type ContactEmailsErrorCode = (typeof contactEmailsErrorCodes)[number];

type UpdateContactEmailsResult = MutationResult<{ contactEmails: ContactEmail[] }, ContactEmailsErrorCode>;

/** The contact addresses of the account of the caller. */
export function listContactEmails({ store }: ActionContext, { accountId }: Caller): Promise<ContactEmail[]> {
  return selectContactEmails(store, accountId);
}

/** @throws {RefusedError} `NOT_FOUND` if the account does not exist */
export async function listContactEmailsOfAccount(context: ActionContext, gid: string): Promise<ContactEmail[]> {
  const { id } = await findAccount(context, null, gid);
  return selectContactEmails(context.store, id);
}

/** Replaces the contact addresses of the account of the caller. Those that are not confirmed get a link by mail. */
export function updateContactEmails(
  context: PortalContext,
  caller: Caller,
  { emails }: { emails: readonly string[] },
): Promise<UpdateContactEmailsResult> {
  return replace(context, caller, caller, { emails, hasPortal: context.portalOrigin !== null });
}

/**
 * Replaces the contact addresses of any account, for an operator.
 *
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist, `INVALID` or `LIMIT_REACHED` as user errors of `updateContactEmails`
 */
export async function updateContactEmailsOfAccount(
  context: OperatorContext,
  { accountId: gid, emails }: { accountId: string; emails: readonly string[] },
): Promise<ContactEmail[]> {
  const { id: accountId, interfaceName } = await findAccount(context, null, gid);
  // The worker has the origin of the portal too.
  const given = { emails, hasPortal: true };
  return orRefuse(await replace(context, context.operator, { accountId, interfaceName }, given)).contactEmails;
}

async function replace(
  context: ActionContext,
  by: Caller | Operator,
  { accountId, interfaceName }: Pick<Caller, 'accountId' | 'interfaceName'>,
  given: { emails: readonly string[]; hasPortal: boolean },
): Promise<UpdateContactEmailsResult> {
  const userErrors = findInputErrors(given.emails);
  if (userErrors.length > 0) return { contactEmails: null, userErrors };
  return context.store.transaction(async (transaction) => {
    const problem = await update(transaction, accountId, given);
    if (problem !== null) return { contactEmails: null, userErrors: [describe(problem, accountId)] };
    const contactEmails = await selectContactEmails(transaction, accountId);
    await appendAuditEntry(transaction, by, {
      action: 'contact_emails.update',
      subject: formatAccountGid(context, interfaceName, accountId),
      account: { id: accountId, interfaceName },
      details: { addresses: contactEmails.length },
    });
    return { contactEmails, userErrors: [] };
  });
}

function findInputErrors(emails: readonly string[]): UserError<ContactEmailsErrorCode>[] {
  if (new Set(emails.map((email) => email.toLowerCase())).size > emailsPerAccount)
    return [inputError('LIMIT_REACHED', 'emails', `An account has at most ${emailsPerAccount} contact addresses.`)];
  return emails.flatMap((email, index) =>
    isContactEmail(email)
      ? []
      : {
          code: 'EMAIL_INVALID',
          message: `The address must have the form name@example.com, in ASCII, and at most ${emailCharactersMax} characters.`,
          field: ['input', 'emails', String(index)],
        },
  );
}

/** As browsers check `<input type="email">`, and with a dot in the domain. No such text can leave its place in a header or in SMTP. */
export function isContactEmail(text: string): boolean {
  return (
    text.length <= emailCharactersMax &&
    /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i.test(
      text,
    )
  );
}

const confirmationsPerDay = 10;
const confirmationsPerAddressPerDay = 3;

/** The response does not say whether another account has asked for an address. */
const limitReached = `Your account has asked for ${confirmationsPerDay} confirmations within 24 hours, or some account for ${confirmationsPerAddressPerDay} of the same address. Ask again tomorrow.`;

function describe(problem: ContactEmailsProblem, accountId: string): UserError<ContactEmailsErrorCode> {
  switch (problem) {
    case 'ACCOUNT_LIMIT':
    case 'ADDRESS_LIMIT':
      return inputError('LIMIT_REACHED', 'emails', limitReached);
    case 'MAIL_UNAVAILABLE':
      return {
        code: 'MAIL_UNAVAILABLE',
        message:
          'The operator sends no mail, so no address can be confirmed. Ask the operator to set PORTAL_ORIGIN, SMTP_URL and SMTP_FROM.',
        field: null,
      };
    case 'NO_ACCOUNT':
      throw new Error(`The account ${accountId} does not exist.`);
  }
}

/** Confirms the address to which a token was sent. False if the token is not valid, or is of an account of another interface. */
export async function confirmContactEmail({ store }: ActionContext, token: unknown): Promise<boolean> {
  return isToken(token) && confirm(store, hashOf(token));
}

/** Ends the mails with the subject of the mail that had a token, and returns it. Null if the token is not valid. */
export async function unsubscribeContactEmail(
  { store }: ActionContext,
  token: unknown,
): Promise<ContactSubject | null> {
  return isToken(token) ? unsubscribe(store, hashOf(token)) : null;
}
