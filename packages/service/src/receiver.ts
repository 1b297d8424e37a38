import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { verifyWebhook, WebhookVerificationError } from '@deedwire/webhook-signing';

/** The body of a delivery whose signature is valid. */
export interface ReceivedEvent {
  /** The global identifier of the event. */
  id: string;
  type: string;
  version: string;
  /** When the event happened, as an RFC 3339 timestamp in UTC. */
  timestamp: string;
  /** What `render` has returned. */
  data: unknown;
}

export interface ReceiverOptions {
  /** Of each subscription. */
  secret: string;
  /** What the names of the service's own headers begin with. */
  prefix: string;
  onEvent: (event: ReceivedEvent) => void;
  /** Called with the reason for each request that is refused. */
  onRefused: (reason: string) => void;
}

export interface RunningReceiver {
  /** The callback URL. */
  url: string;
  close: () => Promise<void>;
}

/** Starts the server of a customer on a free port of this machine. It verifies each request, and accepts every event. */
export async function startReceiver({ secret, prefix, onEvent, onRefused }: ReceiverOptions): Promise<RunningReceiver> {
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    try {
      verifyWebhook({ headers: request.headers, body, secret, prefix });
    } catch (error) {
      if (!WebhookVerificationError.isInstance(error)) throw error;
      onRefused(error.code);
      response.writeHead(401).end(error.code);
      return;
    }
    const content: ReceivedEvent | { verification_token: string } = JSON.parse(body.toString());
    if (!('verification_token' in content)) onEvent(content);
    // The handshake of a new subscription expects its body. Nothing reads the response to an event.
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
  }
  const server = createServer((request, response) => {
    respond(request, response).catch((error: Error) => response.destroy(error));
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
