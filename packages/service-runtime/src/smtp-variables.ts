import { z } from 'zod';
import { unreadableUrl, urlProblem } from './config-variables.ts';
import { isDecodable } from './proxy-url-variable.ts';

/** A server that takes mails to send. */
export interface SmtpServer {
  host: string;
  port: number;
  /** Whether the connection begins with TLS. Otherwise STARTTLS follows. */
  isTls: boolean;
  /** Null: the server needs none. */
  credentials: { user: string; password: string } | null;
}

const [submissionPort, submissionsPort] = [587, 465];

/** `smtp://` or `smtps://`, a host, and a port and credentials or not. A parameter could turn TLS off, so there are none. */
export function smtpUrlVariable() {
  return z.string().transform((text, context): SmtpServer => {
    const url = URL.parse(text);
    const problem = urlProblem(text, ['smtp', 'smtps']);
    if (url === null || problem !== null) {
      context.addIssue(problem ?? unreadableUrl);
      return z.NEVER;
    }
    if (url.hostname === '' || !/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') {
      context.addIssue('must contain a host, and a port and credentials or not, and nothing else');
      return z.NEVER;
    }
    if ((url.username === '') !== (url.password === '')) {
      context.addIssue('must contain a user name and a password, or neither');
      return z.NEVER;
    }
    if (!isDecodable(url.username) || !isDecodable(url.password)) {
      context.addIssue('must have percent-encoded credentials; a % in them is %25');
      return z.NEVER;
    }
    const isTls = url.protocol === 'smtps:';
    const [user, password] = [url.username, url.password].map(decodeURIComponent);
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(url.port) || (isTls ? submissionsPort : submissionPort),
      isTls,
      credentials: user && password ? { user, password } : null,
    };
  });
}

/** Who sends a mail. */
export interface MailSender {
  /** Empty: only the address is shown. */
  name: string;
  address: string;
}

/** `webhooks@example.com`, or `Example <webhooks@example.com>`. */
export function mailSenderVariable() {
  return z.string().transform((text, context): MailSender => {
    const [, quoted, plain = '', bracketed, bare] =
      /^(?:(?:"([^"\\\p{C}]*)"|([^"\\<>\p{C}]*?)) *<([^<>]*)>|(\S*))$/u.exec(text) ?? [];
    const address = bracketed ?? bare ?? '';
    if (/^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i.test(address))
      return { name: quoted ?? plain, address };
    context.addIssue('must be an address such as webhooks@example.com, or Example <webhooks@example.com>');
    return z.NEVER;
  });
}
