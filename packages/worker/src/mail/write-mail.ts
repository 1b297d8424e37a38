import { type InterfaceName, interfaceOf, type MailAction, mailPath, type Service } from '@deedwire/core';
import type { DueMail } from '@deedwire/store/contact-mails';
import { z } from 'zod';
import { type Block, oneLine } from './render-mail.ts';

/** What a mail says, without its links to unsubscribe. */
export interface WrittenMail {
  subject: string;
  blocks: readonly Block[];
}

export interface WriteOptions {
  service: Service;
  /** To which all links lead. */
  portalOrigin: string;
  /** In links of the mail. */
  token: string;
  /** What the owner of the receiver can do about the last failure. Null if it is not known, or does not matter. */
  advice: string | null;
  /** How long failed deliveries can be sent again. */
  retentionDays: number;
}

/** Where a token confirms an address, or ends mails with a subject. */
export function tokenUrl(
  { service, portalOrigin, token }: Pick<WriteOptions, 'portalOrigin' | 'service' | 'token'>,
  interfaceName: InterfaceName,
  action: MailAction,
): string {
  return `${portalOrigin}${mailPath(interfaceOf(service, interfaceName), action)}?token=${token}`;
}

/** Null if what the mail is about is deleted. */
export function writeMail(mail: DueMail, options: WriteOptions): WrittenMail | null {
  if (mail.subject === 'CONFIRMATION') return confirmation(tokenUrl(options, mail.interfaceName, 'confirm'));
  const { subscription, key, data } = mail;
  const base = `${options.portalOrigin}${interfaceOf(options.service, mail.interfaceName).path}/portal/${mail.organizationId}/`;
  const account = `The account is ${quoted(mail.accountName)}.`;
  if (mail.subject === 'KEY_EXPIRING') {
    if (key === null) return null;
    const name = quoted(key.name ?? key.id);
    return {
      subject: `API key ${name} ends soon`,
      blocks: [
        `The API key ${name} ends at ${timeOf(keyData.parse(data).expiresAt)}. From then on, requests with it are refused. Rotate it in the portal, or ask for a new one.`,
        account,
        { text: 'See the keys', url: `${base}keys` },
        session,
      ],
    };
  }
  if (subscription === null) return null;
  const name = quoted(subscription.name ?? `subscription ${subscription.id}`);
  const page: Block = { text: 'See the subscription', url: `${base}subscriptions/${subscription.id}` };
  const advice = options.advice === null ? [] : [`The last failure: ${options.advice}`];
  switch (mail.subject) {
    case 'DISRUPTED': {
      const { failingSince, consecutiveFailures } = disruptedData.parse(data);
      return {
        subject: `Webhooks to ${name} fail`,
        blocks: [
          `The receiver of ${name} has failed since ${timeOf(failingSince)}, ${countOf(consecutiveFailures, 'time')} in a row. Deedwire tries each delivery again for about three days.`,
          // The mail server can have been unavailable meanwhile.
          ...(mail.failedDeliveryId === null
            ? ['Since then, its failures have ended, or the subscription has changed.']
            : advice),
          account,
          page,
          session,
        ],
      };
    }
    case 'PAUSED': {
      const { reason, pausedAt } = pausedData.parse(data);
      return {
        subject: `Webhooks to ${name} are paused`,
        blocks: [
          [
            `The subscription ${name} was paused at ${timeOf(pausedAt)}.`,
            pauseReasons[reason],
            'Its events are kept, and sent once it is resumed.',
          ]
            .filter((sentence) => sentence !== undefined)
            .join(' '),
          ...advice,
          account,
          page,
          session,
        ],
      };
    }
    case 'RECOVERED':
      return {
        subject: `Webhooks to ${name} work again`,
        blocks: [
          `The receiver of ${name}, which had failed since ${timeOf(recoveredData.parse(data).disruptedAt)}, works again. Deedwire sends the pending deliveries.`,
          account,
          page,
          session,
        ],
      };
    case 'FAILED': {
      const { since, failedCount } = failedData.parse(data);
      return {
        subject: `${countOf(failedCount, 'webhook')} to ${name} failed for good`,
        blocks: [
          `Since ${timeOf(since)}, ${countOf(failedCount, 'delivery', 'deliveries')} to ${name} failed for good: Deedwire does not try them again. You can send them again for ${options.retentionDays} days after their events.`,
          ...advice,
          account,
          { text: 'Send them again', url: `${base}recover` },
          page,
          session,
        ],
      };
    }
  }
}

/** It contains nothing that an account wrote: an account chooses who gets it. */
function confirmation(url: string): WrittenMail {
  return {
    subject: 'Confirm this address for webhook notices',
    blocks: [
      'Somebody asked Deedwire to send notices about failing webhooks and expiring API keys to this address. To agree, open the link and press the button. It works for 24 hours.',
      { text: 'Confirm this address', url },
      'If you did not expect this, do nothing: you will get no notices.',
    ],
  };
}

const session = 'If the portal asks for a link, open it from your application first, and then the link in this mail.';

const disruptedData = z.object({ failingSince: z.string(), consecutiveFailures: z.number() });
const pausedData = z.object({ reason: z.string(), pausedAt: z.string() });
const recoveredData = z.object({ disruptedAt: z.string() });
const failedData = z.object({ since: z.string(), failedCount: z.number() });
const keyData = z.object({ expiresAt: z.string() });

/** Of newer databases, there can be others. */
const pauseReasons: Readonly<Record<string, string>> = {
  OPERATOR: 'The operator paused it.',
  GONE: 'Its receiver responded 410 Gone.',
  FAILING: 'Its receiver had failed for days.',
  VERSION_RETIRED: 'It pins a version of an event type that is retired: pin another one, and resume it.',
};

function quoted(name: string): string {
  return `"${oneLine(name)}"`;
}

function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** `2026-11-03 09:30 UTC`, of a time of an event. */
function timeOf(text: string): string {
  return `${text.slice(0, 16).replace('T', ' ')} UTC`;
}
