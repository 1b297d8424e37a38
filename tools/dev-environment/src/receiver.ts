import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { verifyWebhook, type VerifiedWebhook } from '@deedwire/webhook-signing';

export interface ReceivedRequest {
  receivedAt: Date;
  headers: IncomingHttpHeaders;
  /** As it came. */
  body: string;
  /** What `@deedwire/webhook-signing` says of it; an error when it is not authentic. */
  verification: VerifiedWebhook | Error;
  /** What was answered. */
  status: number;
}

export interface Receiver {
  /** To register as callback URL. */
  url: string;
  /** All so far, in order. */
  requests: readonly ReceivedRequest[];
  /** Resolves with the request that is the `count`th. */
  nth(count: number): Promise<ReceivedRequest>;
  close(): Promise<void>;
}

/**
 * A receiver as a client would write it: verifies every request with the secret, echoes the token of a verification
 * request, and acknowledges events with a 2xx. `statusOf` lets it fail instead.
 */
export async function startReceiver(
  secret: string,
  statusOf: (eventNumber: number) => number = () => 204,
): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const waiting: { count: number; resolve: (request: ReceivedRequest) => void }[] = [];
  let events = 0;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = await request.toArray();
    const body = Buffer.concat(chunks);
    const verification = verify(request.headers, body, secret);
    const token = verificationToken(body.toString());
    const status = verification instanceof Error ? 401 : token === null ? statusOf((events += 1)) : 200;
    response.statusCode = status;
    if (token !== null) response.setHeader('Content-Type', 'application/json');
    response.end(token === null ? '' : JSON.stringify({ verification_token: token }));

    requests.push({ receivedAt: new Date(), headers: request.headers, body: body.toString(), verification, status });
    for (const { count, resolve } of waiting) {
      const reached = requests[count - 1];
      if (reached) resolve(reached);
    }
  }
  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}/webhooks`,
    requests,
    async nth(count) {
      const there = requests[count - 1];
      return there ?? new Promise((resolve) => waiting.push({ count, resolve }));
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function verify(headers: IncomingHttpHeaders, body: Uint8Array, secret: string): VerifiedWebhook | Error {
  try {
    return verifyWebhook({ headers, body, secret });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The token of a verification request, whose body has no other key; null for events. */
function verificationToken(body: string): string | null {
  const parsed: unknown = JSON.parse(body);
  if (typeof parsed !== 'object' || parsed === null || Object.keys(parsed).length !== 1) return null;
  return 'verification_token' in parsed && typeof parsed.verification_token === 'string'
    ? parsed.verification_token
    : null;
}
