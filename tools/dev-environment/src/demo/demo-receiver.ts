import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '@deedwire/testing';
import { verifyWebhook, type VerifiedWebhook } from '@deedwire/webhook-signing';

export interface DemoRequest {
  receivedAt: Date;
  headers: IncomingHttpHeaders;
  /** The request body, unchanged. */
  body: string;
  kind: 'handshake' | 'event' | 'rejected';
  /** The result of `@deedwire/webhook-signing`: an error if the request is not authentic. */
  verification: VerifiedWebhook | Error;
  /** The HTTP status of the response. */
  status: number;
}

export interface DemoReceiverOptions {
  secret: string;
  /** The HTTP status of the response to the nth event, counted from 1. Defaults to 204 for every event. */
  statusOf?: (eventNumber: number) => number;
  /** Called after each response. */
  onRequest: (request: DemoRequest) => void;
}

export interface DemoReceiver {
  /** The callback URL to register. */
  url: string;
  close(): Promise<void>;
}

/** A receiver that verifies every request with the secret, answers the handshake and acknowledges events. */
export async function startDemoReceiver(options: DemoReceiverOptions): Promise<DemoReceiver> {
  const { secret, statusOf = () => 204, onRequest } = options;
  let events = 0;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const receivedAt = new Date();
    const chunks: Buffer[] = await request.toArray();
    const bytes = Buffer.concat(chunks);
    const { headers } = request;
    const body = bytes.toString();
    const verification = verify(headers, bytes, secret);
    const token = verification instanceof Error ? null : verificationToken(body);
    const kind = verification instanceof Error ? 'rejected' : token === null ? 'event' : 'handshake';
    if (kind === 'event') events += 1;
    const status = { rejected: () => 401, handshake: () => 200, event: () => statusOf(events) }[kind]();
    response.statusCode = status;
    if (token !== null) response.setHeader('Content-Type', 'application/json');
    response.end(token === null ? '' : JSON.stringify({ verification_token: token }));
    onRequest({ receivedAt, headers, body, kind, verification, status });
  }

  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  const listening = await listen(server);
  return { url: `http://127.0.0.1:${listening.port}/webhooks`, close: () => listening.close() };
}

function verify(headers: IncomingHttpHeaders, body: Uint8Array, secret: string): VerifiedWebhook | Error {
  try {
    return verifyWebhook({ headers, body, secret });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The token of a handshake, whose body has no other key. Null for an event. */
function verificationToken(body: string): string | null {
  const parsed: unknown = JSON.parse(body);
  if (typeof parsed !== 'object' || parsed === null || Object.keys(parsed).length !== 1) return null;
  return 'verification_token' in parsed && typeof parsed.verification_token === 'string'
    ? parsed.verification_token
    : null;
}
