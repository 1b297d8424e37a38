import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request that a receiver got, body as sent. */
export interface ReceivedRequest {
  method: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Of the monotonic clock. */
  atMs: number;
}

type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

/** A callback server of a consumer. */
export interface Receiver {
  url: string;
  handshakes: ReceivedRequest[];
  deliveries: ReceivedRequest[];
  /** How they are answered from now on. */
  answerHandshake: Answer;
  answerDelivery: Answer;
  /** Resolves with the deliveries when there are so many; rejects after a generous time. */
  waitFor(count: number): Promise<ReceivedRequest[]>;
  close(): Promise<void>;
}

const waitMaxMs = 45_000;

/** Echoes the body, which holds the token and nothing else. */
export const echoToken: Answer = (response, { body }) => {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
};

export const acknowledge: Answer = (response) => {
  response.writeHead(204).end();
};

export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const atMs = performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = { method: request.method ?? '', headers: request.headers, body: Buffer.concat(chunks), atMs };
      const isHandshake = received.body.toString().startsWith('{"verification_token":');
      (isHandshake ? receiver.handshakes : receiver.deliveries).push(received);
      (isHandshake ? receiver.answerHandshake : receiver.answerDelivery)(response, received);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address.port}/hook`,
    handshakes: [],
    deliveries: [],
    answerHandshake: echoToken,
    answerDelivery: acknowledge,
    async waitFor(count) {
      const endMs = performance.now() + waitMaxMs;
      while (receiver.deliveries.length < count) {
        if (performance.now() > endMs) throw new Error(`${receiver.deliveries.length} of ${count} deliveries arrived.`);
        await sleep(5);
      }
      return receiver.deliveries;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
