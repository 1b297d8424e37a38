import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { eventually } from './eventually.ts';
import { listen, type Listening } from './listen.ts';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  /** The bytes as received. */
  body: Buffer;
  /** When the request line and headers arrived, on the monotonic clock. */
  atMs: number;
}

export type Respond = (response: ServerResponse, request: ReceivedRequest) => void;

/** A fake receiver on a free port. */
export interface Receiver extends Listening {
  /** The callback URL. */
  url: string;
  /** All of them, in order of arrival. */
  requests: ReceivedRequest[];
  handshakes: ReceivedRequest[];
  /**
   * The other POST requests. A request with another method is only in `requests`, and its answer is 405: a process that another
   * test has stopped may have had this port before, and some client may still ask there.
   */
  deliveries: ReceivedRequest[];
  /** A test can replace these; the next request uses the new function. */
  onHandshake: Respond;
  onDelivery: Respond;
  /** Resolves with the deliveries once `count` have arrived; rejects after two minutes. */
  waitFor(count: number): Promise<ReceivedRequest[]>;
}

interface ReceiverOptions {
  /** Defaults to `/hook`. */
  path?: string;
  /** Defaults to `echoToken`. */
  onHandshake?: Respond;
  /** Defaults to `acknowledge`. */
  onDelivery?: Respond;
}

/** Echoes the body, which holds only the token. */
const echoToken: Respond = (response, { body }) => {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
};

export const acknowledge: Respond = (response) => {
  response.writeHead(204).end();
};

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { path = '/hook', onHandshake = echoToken, onDelivery = acknowledge } = options;
  const server = createServer((message, response) => {
    const atMs = performance.now();
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const { method = '', url: requestPath = '', headers, rawHeaders } = message;
      const request = { method, path: requestPath, headers, rawHeaders, body: Buffer.concat(chunks), atMs };
      const isHandshake = request.body.toString().startsWith('{"verification_token":');
      receiver.requests.push(request);
      if (method !== 'POST') {
        response.writeHead(405, { Allow: 'POST' }).end();
        return;
      }
      (isHandshake ? receiver.handshakes : receiver.deliveries).push(request);
      (isHandshake ? receiver.onHandshake : receiver.onDelivery)(response, request);
    });
  });
  const listening = await listen(server);
  const receiver: Receiver = {
    ...listening,
    url: `http://127.0.0.1:${listening.port}${path}`,
    requests: [],
    handshakes: [],
    deliveries: [],
    onHandshake,
    onDelivery,
    waitFor: (count) =>
      eventually(() => {
        const { deliveries } = receiver;
        if (deliveries.length < count) throw new Error(`${deliveries.length} of ${count} deliveries arrived.`);
        return deliveries;
      }),
  };
  return receiver;
}
