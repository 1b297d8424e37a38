import type { MailSender, SmtpServer } from '@deedwire/service-runtime';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';

export interface Mail {
  from: MailSender;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Of each attempt to send the same mail. */
  messageId: string;
  headers: Readonly<Record<string, string>>;
}

/** The longest attempt. Less than the time after which take_contact_mail() repeats it. */
const attemptMs = 60_000;

export interface SendOptions {
  server: SmtpServer;
  /** False in development, where STARTTLS is not used: servers for tests have no valid certificate. */
  requiresTls: boolean;
  /** The longest wait for the connection, for the greeting, and for each response. */
  waitMs: number;
  /** Ends the attempt early. */
  signal: AbortSignal;
}

/**
 * Sends a mail over its own connection.
 *
 * @throws {Error} if the server does not take it, with the properties of an error of nodemailer. It can have taken it all the same.
 */
export async function sendMail(mail: Mail, { server, requiresTls, waitMs, signal }: SendOptions): Promise<void> {
  const message = await compose(mail);
  const { host, port, isTls, credentials } = server;
  const connection = new SMTPConnection({
    host,
    port,
    secure: isTls,
    requireTLS: requiresTls && !isTls,
    ignoreTLS: !requiresTls,
    connectionTimeout: waitMs,
    greetingTimeout: waitMs,
    socketTimeout: waitMs,
    dnsTimeout: waitMs,
    // Nothing of a server that sends more is of use.
    maxResponseSize: 64_000,
    logger: false,
  });
  const ended = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
  const failed = new Promise<never>((_, reject) => {
    connection.on('error', reject);
    connection.once('end', () => reject(new Error('The mail server closed the connection.')));
    ended.addEventListener('abort', () => {
      connection.close();
      reject(new Error('The attempt took too long, or the process ends.'));
    });
  });
  // Once the attempt has ended, a rejection must not end the process.
  failed.catch(() => {});
  const step = (run: (callback: (error?: Error | null) => void) => void): Promise<void> =>
    Promise.race([failed, new Promise<void>((resolve, reject) => run((error) => (error ? reject(error) : resolve())))]);
  try {
    await step((callback) => connection.connect(callback));
    if (credentials !== null) {
      const { user, password: pass } = credentials;
      await step((callback) => connection.login({ user, pass, credentials: { user, pass } }, callback));
    }
    await step((callback) => connection.send({ from: mail.from.address, to: [mail.to] }, message, callback));
    connection.quit();
  } catch (error) {
    connection.close();
    throw error;
  }
}

function compose({ from, to, subject, text, html, messageId, headers }: Mail): Promise<Buffer> {
  const composer = new MailComposer({
    from,
    // Not as a text, which a parser of lists of addresses would read.
    to: { name: '', address: to },
    subject,
    text,
    html,
    messageId,
    headers: { ...headers },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

/** What is known about a failure. Responses of servers contain addresses of recipients, so only their codes are here. */
export interface SmtpFailure {
  /** Of nodemailer, such as ECONNECTION, ETLS and EAUTH. */
  code: string | null;
  /** `RCPT TO`, for example. */
  command: string | null;
  responseCode: number | null;
  /** RFC 3463, for example `5.1.1`. */
  status: string | null;
}

export function describeFailure(error: unknown): SmtpFailure {
  const known: { code?: unknown; command?: unknown; responseCode?: unknown; response?: unknown } =
    typeof error === 'object' && error !== null ? error : {};
  const { responseCode } = known;
  const response = textOf(known.response) ?? '';
  // As qmail writes it: `553 sorry (#5.7.1)`. Exim refuses to relay without a status.
  const [, status = /\brelay/i.test(response) ? '5.7.1' : null] =
    /(?:^\d{3}[ -]|#)([245]\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? [];
  return {
    code: textOf(known.code),
    command: textOf(known.command),
    responseCode: typeof responseCode === 'number' ? responseCode : null,
    status,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Of RFC 5321 and RFC 7504: of replies to RCPT TO, those that can be about its address. */
const addressCodes: readonly number[] = [501, 550, 551, 552, 553, 554, 556];

/**
 * Whether the server refuses the address for good. Many servers refuse a sender (5.1.7, 5.1.8), a lack of rights (5.7), or everything (5.3) in
 * reply to RCPT TO: as bounces, these would stop every address.
 */
export function isBounce({ command, responseCode, status }: SmtpFailure): boolean {
  if (command !== 'RCPT TO' || responseCode === null || !addressCodes.includes(responseCode)) return false;
  return !/^5\.(?:1\.[78]$|[37]\.)/.test(status ?? '');
}
