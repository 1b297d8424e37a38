import { type ActionContext, createToken, hashOf, readLastFailures, systemRandom } from '@deedwire/actions';
import type { Logger, MailSender } from '@deedwire/service-runtime';
import { type DueMail, endContactMail, type MailResult, takeContactMail } from '@deedwire/store/contact-mails';
import { toHtml, toText } from './render-mail.ts';
import { describeFailure, isBounce, type Mail, sendMail, type SendOptions, type SmtpFailure } from './smtp.ts';
import { tokenUrl, writeMail } from './write-mail.ts';

export interface MailOptions {
  context: Omit<ActionContext, 'random'>;
  logger: Logger;
  /** Called once for each attempt. */
  count: (result: 'bounced' | 'failed' | 'sent') => void;
  from: MailSender;
  server: SendOptions['server'];
  requiresTls: boolean;
  waitMs: number;
  portalOrigin: string;
  retentionDays: number;
}

/** Connections to the mail server at a time. */
const atOnce = 5;

/**
 * Sends the mails that are due. If a mail fails, the worker sends it again for three days, with growing pauses. No
 * transaction is open meanwhile, and a mail that a killed process may have sent is sent again with the same Message-ID.
 *
 * @param signal ends the attempts
 */
export async function sendDueMails(options: MailOptions, signal: AbortSignal): Promise<void> {
  const failures: SmtpFailure[] = [];
  let failuresInARow = 0;
  const sender = async (): Promise<void> => {
    // Of a server that takes none, the others wait for the next run.
    while (!signal.aborted && failuresInARow < atOnce) {
      const token = createToken(systemRandom);
      const mail = await takeContactMail(options.context.store, hashOf(token));
      if (mail === null) return;
      const failure = await sendOne(options, mail, token, signal);
      failuresInARow = failure === null ? 0 : failuresInARow + 1;
      if (failure !== null) failures.push(failure);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, sender));
  const [first] = failures;
  if (first !== undefined && !signal.aborted)
    options.logger.warn({ mails: failures.length, ...first }, 'mails not sent; they will be sent again later');
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** Returns why the mail was not sent, if it is to be sent again. */
async function sendOne(
  options: MailOptions,
  mail: DueMail,
  token: string,
  signal: AbortSignal,
): Promise<SmtpFailure | null> {
  const { context, logger, count, server, requiresTls, waitMs } = options;
  const composed = await compose(options, mail, token);
  let result: MailResult = composed === null ? 'DROPPED' : 'SENT';
  if (composed !== null)
    try {
      await sendMail(composed, { server, requiresTls, waitMs, signal });
    } catch (error) {
      const failure = describeFailure(error);
      count(isBounce(failure) ? 'bounced' : 'failed');
      if (!isBounce(failure)) return failure;
      result = 'BOUNCED';
    }
  if (result === 'SENT') count('sent');
  const isStopped = await endContactMail(context.store, mail.id, result);
  if (isStopped)
    logger.warn({ mail: mail.id }, 'contact address stopped: the mail server refused it five times in a row');
  return null;
}

async function compose(options: MailOptions, mail: DueMail, token: string): Promise<Mail | null> {
  const { context, from, portalOrigin, retentionDays } = options;
  const isAboutFailure = ['DISRUPTED', 'FAILED', 'PAUSED'].includes(mail.subject);
  const [failure = null] =
    isAboutFailure && mail.failedDeliveryId !== null
      ? await readLastFailures({ ...context, random: systemRandom }, [mail.failedDeliveryId])
      : [];
  const links = { service: context.service, portalOrigin, token };
  const written = writeMail(mail, { ...links, advice: failure?.advice ?? null, retentionDays });
  if (written === null) return null;
  const blocks = [...written.blocks];
  const headers: Record<string, string> = { 'Auto-Submitted': 'auto-generated' };
  if (mail.subject !== 'CONFIRMATION') {
    const url = tokenUrl(links, mail.interfaceName, 'unsubscribe');
    blocks.push({ text: 'Get no more mails like this one at this address', url });
    // RFC 8058.
    headers['List-Unsubscribe'] = `<${url}>`;
    headers['List-Unsubscribe-Post'] = 'List-Unsubscribe=One-Click';
  }
  return {
    from,
    to: mail.email,
    subject: written.subject,
    text: toText(blocks),
    html: toHtml(written.subject, blocks),
    messageId: `<deedwire.${context.gidNamespace}.${mail.id}@${from.address.replace(/^.*@/, '')}>`,
    headers,
  };
}
