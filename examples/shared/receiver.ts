import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseWebhookBody, type WebhookEvent } from '@deedwire/webhook-events';
import { verifyWebhook } from '@deedwire/webhook-signing';

export interface Receiver {
  url: string;
  /** The first event. Rejects if a request is not authentic. */
  event: Promise<WebhookEvent>;
  close(): void;
}

/** Verifies every request, including the handshake, and acknowledges events. */
export async function startReceiver(secret: string): Promise<Receiver> {
  const server = createServer();
  const event = new Promise<WebhookEvent>((resolve, reject) => {
    server.on('request', (request, response) => {
      receive(request, response, secret).then((received) => received && resolve(received), reject);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no TCP port.');
  return { url: `http://127.0.0.1:${address.port}/`, event, close: () => void server.close() };
}

/** Responds to a request and returns its event. Null if the request is a handshake. */
async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  secret: string,
): Promise<WebhookEvent | null> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  verifyWebhook({ headers: request.headers, body, secret });
  const received = parseWebhookBody(body);
  if (received.kind === 'verification') {
    response.end(JSON.stringify({ verification_token: received.verificationToken }));
    return null;
  }
  response.writeHead(204).end();
  if (received.kind !== 'event')
    throw new Error(`Expected an event of a known type and version, received: ${body.toString()}`);
  return received.event;
}
