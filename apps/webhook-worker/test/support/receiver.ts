import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

/** A request that a receiver got, body as sent. */
export interface ReceivedRequest {
  headers: IncomingHttpHeaders;
  body: Buffer;
  atMs: number;
}

export interface Receiver {
  url: string;
  /** Deliveries, without handshakes, in the order of their arrival. */
  requests: ReceivedRequest[];
  /** How deliveries are answered from now on. Handshakes are always answered as they should be. */
  answer: (response: ServerResponse, request: ReceivedRequest) => void;
  /** Resolves when so many deliveries have arrived. */
  waitFor(count: number): Promise<void>;
  close(): Promise<void>;
}

export const answerOk = (response: ServerResponse): void => {
  response.writeHead(204).end();
};

/** A callback server on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const waiters: { count: number; resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    const atMs = performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (body.toString().startsWith('{"verification_token":')) {
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
        return;
      }
      const received = { headers: request.headers, body, atMs };
      receiver.requests.push(received);
      for (const waiter of waiters) if (receiver.requests.length >= waiter.count) waiter.resolve();
      receiver.answer(response, received);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address.port}/hook`,
    requests: [],
    answer: answerOk,
    waitFor: (count) =>
      new Promise((resolve) => {
        if (receiver.requests.length >= count) resolve();
        else waiters.push({ count, resolve });
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
