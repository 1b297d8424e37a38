import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { workspaceRoot } from './workspace-copy.ts';

/** What the server does with a mail. A refusal answers RCPT TO. */
export type MailAnswer = 'accept' | 'close-after-data' | { refuse: number; status: string };

export interface ReceivedMail {
  from: string;
  to: string[];
  source: string;
  isSecure: boolean;
  user: string | null;
}

export interface MailServer {
  port: number;
  mails: ReceivedMail[];
  answer: MailAnswer;
  close(): Promise<void>;
}

const pem = (name: string): string =>
  readFileSync(join(workspaceRoot, 'packages/store/test/certificates', `${name}.pem`), 'utf8');

/** The certificate authority of the certificate for 127.0.0.1. */
export const mailServerCa = pem('ca');

/** An SMTP server on the loopback interface. It offers STARTTLS unless the options hide it. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const sockets = new Set<Socket>();
  const smtp = new SMTPServer({
    authOptional: true,
    key: pem('server-key'),
    cert: pem('valid'),
    closeTimeout: 100,
    onAuth: ({ username, password }, _, callback) =>
      callback(null, password === 'right' ? { user: username } : undefined),
    onRcptTo({ address }, _, callback) {
      const { answer } = server;
      if (typeof answer === 'string') return callback();
      const error = new Error(`${answer.status} ${address} is refused`);
      return callback(Object.assign(error, { responseCode: answer.refuse }));
    },
    async onData(stream, { envelope, secure, user }, callback) {
      const source = await text(stream);
      server.mails.push({
        from: envelope.mailFrom ? envelope.mailFrom.address : '',
        to: envelope.rcptTo.map(({ address }) => address),
        source,
        isSecure: secure,
        user: typeof user === 'string' ? user : null,
      });
      if (server.answer === 'close-after-data') for (const socket of sockets) socket.destroy();
      else callback();
    },
    ...options,
  });
  smtp.on('error', () => {});
  smtp.server.on('connection', (socket: Socket) => sockets.add(socket));
  smtp.listen(0, '127.0.0.1');
  await once(smtp.server, 'listening');
  const server: MailServer = {
    port: portOf(smtp.server.address()),
    mails: [],
    answer: 'accept',
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  };
  return server;
}

/** The replies to what a client sends, and to the connection itself (`CONNECT`). */
export type SmtpScript = Partial<Record<'CONNECT' | 'EHLO' | 'MAIL' | 'RCPT' | 'DATA' | '.' | 'QUIT', SmtpReply>>;

/** Text with its line ends, or what is done with the connection. */
type SmtpReply = string | ((socket: Socket) => void);

/** A server without TLS that follows a script, and otherwise takes every mail. */
export async function startScriptedServer(script: SmtpScript) {
  const replies: Record<string, SmtpReply> = {
    CONNECT: '220 mail.test ESMTP\r\n',
    EHLO: '250 mail.test\r\n',
    MAIL: '250 2.1.0 accepted\r\n',
    RCPT: '250 2.1.5 accepted\r\n',
    DATA: '354 go on\r\n',
    '.': '250 2.0.0 accepted\r\n',
    QUIT: '221 2.0.0 bye\r\n',
    ...script,
  };
  const sockets = new Set<Socket>();
  const received: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)));
    const reply = (command: string) => {
      received.push(command);
      const answer = replies[command] ?? '500 5.5.1 unknown\r\n';
      if (typeof answer === 'string') socket.write(answer);
      else answer(socket);
    };
    let isData = false;
    let buffered = '';
    socket.on('data', (chunk) => {
      buffered += chunk.toString('latin1');
      for (let end = buffered.indexOf('\r\n'); end !== -1; end = buffered.indexOf('\r\n')) {
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + 2);
        if (isData && line !== '.') continue;
        const command = isData ? '.' : (line.split(' ', 1)[0] ?? '');
        isData = command === 'DATA' && String(replies['DATA']).startsWith('354');
        reply(command);
      }
    });
    reply('CONNECT');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server.address()),
    sockets,
    received,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

/** A reply that never ends. */
export function sendsEndlessly(lines: string): (socket: Socket) => void {
  const chunk = lines.repeat(1_000);
  return function more(socket) {
    if (socket.destroyed) return;
    if (socket.write(chunk)) setImmediate(more, socket);
    else socket.once('drain', () => more(socket));
  };
}

/** A server that takes connections and says nothing. */
export async function startSilentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: portOf(server.address()),
    sockets,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

const decodeQuoted = (quoted: string): string =>
  Buffer.from(
    quoted.replaceAll(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();

/** The head, its fields by name and decoded, and the decoded bodies. */
export function parseMail(source: string) {
  const [head = '', ...rest] = source.split('\r\n\r\n');
  const fields = head
    .replaceAll(/\r\n[ \t]/g, ' ')
    .replaceAll('?= =?UTF-8?Q?', '')
    .split('\r\n');
  const headers = Object.fromEntries(
    fields.map((line) => {
      const value = line.slice(line.indexOf(':') + 2);
      const [, encoded] = /^=\?UTF-8\?Q\?(.*)\?=$/.exec(value) ?? [];
      return [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        encoded === undefined ? value : decodeQuoted(encoded.replaceAll('_', ' ')),
      ];
    }),
  );
  return { head, headers, body: decodeQuoted(rest.join('\r\n\r\n').replaceAll('=\r\n', '')) };
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address !== 'object' || address === null) throw new Error('The server does not listen.');
  return address.port;
}
