import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installApart, type Respond, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { Webhook as StandardWebhook } from 'standardwebhooks';

/** Verifies a request as a library does: throws if it is not authentic. */
export type Verify = (secret: string, body: string, headers: Record<string, string>) => unknown;

export const standard: Verify = (secret, body, headers) => new StandardWebhook(secret).verify(body, headers);

/** Installs the library for a test file. */
export async function installSvix(): Promise<Verify> {
  const { folder } = await forFile(installApart('receiver'));
  const { Webhook }: { Webhook: typeof StandardWebhook } = createRequire(join(folder, 'package.json'))('svix');
  return (secret, body, headers) => new Webhook(secret).verify(body, headers);
}

export interface LibraryReceiver {
  /** The callback URL. */
  url: string;
  /** What was received, in order, without handshakes. */
  readonly received: readonly ReceivedDelivery[];
  /** Accepts from now on what one of these secrets has signed. */
  hold(...secrets: string[]): void;
  close(): Promise<void>;
}

export interface ReceivedDelivery {
  isAccepted: boolean;
  /** The secrets with which the library accepts the request, whether the receiver holds them or not. */
  signedWith: string[];
  /** How many signatures `webhook-signature` has. */
  signatures: number;
}

/**
 * A receiver that verifies each request, handshakes too, with a library, and responds 200 or 401.
 *
 * @param secrets those that can sign. It holds the first one.
 */
export async function startLibraryReceiver(verify: Verify, secrets: readonly string[]): Promise<LibraryReceiver> {
  let held = secrets.slice(0, 1);
  const received: ReceivedDelivery[] = [];
  const respond: Respond = (response, request) => {
    const [headers, body] = [textHeaders(request.headers), request.body.toString()];
    const signedWith = secrets.filter((secret) => accepts(verify, secret, body, headers));
    const isAccepted = signedWith.some((secret) => held.includes(secret));
    const { verification_token: token }: { verification_token?: string } = JSON.parse(body);
    if (token === undefined)
      received.push({ isAccepted, signedWith, signatures: headers['webhook-signature']?.split(' ').length ?? 0 });
    response.writeHead(isAccepted ? 200 : 401, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ verification_token: token }));
  };
  const receiver = await startReceiver({ onHandshake: respond, onDelivery: respond });
  return {
    url: receiver.url,
    received,
    hold: (...changed) => void (held = changed),
    close: () => receiver.close(),
  };
}

function accepts(verify: Verify, ...request: Parameters<Verify>): boolean {
  try {
    verify(...request);
    return true;
  } catch {
    return false;
  }
}

function textHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
