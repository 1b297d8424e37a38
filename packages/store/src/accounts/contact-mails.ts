import type { InterfaceName, RecordId } from '@deedwire/core';
import { callFunction } from '../statements/call-function.ts';
import { type Database, onlyRow, sql } from '../statements/database.ts';
import type { ContactSubject } from './contact-emails.ts';

/** A mail that is to be sent now. */
export interface DueMail {
  id: RecordId<'ContactMail'>;
  email: string;
  subject: ContactSubject | 'CONFIRMATION';
  /** What the event reports, without its subscription or key. */
  data: Readonly<Record<string, unknown>>;
  interfaceName: InterfaceName;
  organizationId: RecordId<'Organization'>;
  accountName: string;
  /** Null if it is not about a subscription, or the subscription is deleted. */
  subscription: { id: RecordId<'WebhookSubscription'>; name: string | null } | null;
  /** The delivery whose attempt failed last, if the receiver fails, or led to a pause. */
  failedDeliveryId: RecordId<'WebhookDelivery'> | null;
  /** Null if it is not about a key, or the key is deleted. */
  key: { id: string; name: string | null } | null;
}

/**
 * Begins an attempt to send the mail that is due for the longest time. If no result is recorded, the attempt is repeated later. Served by
 * contact_mail_due, and the primary keys of webhook_receiver_state and webhook_subscription.
 *
 * @param tokenHash of a new token, for its links
 * @returns null if no mail is due
 */
export async function takeContactMail(database: Database, tokenHash: Buffer): Promise<DueMail | null> {
  const statement = sql('take-contact-mail')`
      select id, email, subject, data, interface as "interfaceName",
        organization_id as "organizationId", account_name as "accountName",
        case when subscription_exists then json_build_object('id', subscription_id, 'name', subscription_name) end as subscription,
        -- A pause clears the number of failures, on which the function relies.
        coalesce(failed_delivery_id, (
          select r.last_failed_delivery_id::text
          from webhook_receiver_state r
          join webhook_subscription s on s.id = r.subscription_id and s.url_number = r.url_number
          where r.subscription_id = mail.subscription_id::bigint and s.paused_reason in ('GONE', 'FAILING')
        )) as "failedDeliveryId",
        case when key_exists then json_build_object('id', key_id, 'name', key_name) end as key
      from take_contact_mail($1) mail`;
  const [mail = null] = await database.query<DueMail & Record<string, unknown>>(statement, [tokenHash]);
  return mail;
}

/** `BOUNCED`: the mail server refuses the address for good. `DROPPED`: there is nothing left to tell. */
export type MailResult = 'BOUNCED' | 'DROPPED' | 'SENT';

/** Records the result of an attempt. Returns whether its address gets no further mails. Served by contact_mail_pkey. */
export async function endContactMail(
  database: Database,
  id: RecordId<'ContactMail'>,
  result: MailResult,
): Promise<boolean> {
  return onlyRow(await callFunction<boolean>(database, 'end_contact_mail', [id, result]));
}
