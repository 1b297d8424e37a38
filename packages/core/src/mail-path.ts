import type { Interface } from './service.ts';

/** What a link in a mail to a contact address does with its token. */
export const mailActions = ['confirm', 'unsubscribe'] as const;

export type MailAction = (typeof mailActions)[number];

/** The path of such a link. */
export function mailPath({ path }: Pick<Interface, 'path'>, action: MailAction): string {
  return `${path}/portal/mail/${action}`;
}
