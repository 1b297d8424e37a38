/**
 * The receivers of all subscriptions, in their own process: `receiver-process.ts <number of ports>`. Each port is another
 * origin. The path selects the behavior:
 *
 * - `/hooks/…` responds 200.
 * - `/event/<endpoint>` and `/event/<endpoint>/<ms>` respond 200, at once or after a delay, and record when each event arrived.
 *   They find the name of the event, `bench-…`, in the body, so that the headers of the sender do not matter. A delivery is an
 *   event at an endpoint.
 * - `/slow/<ms>/…` responds 200 after a delay.
 * - `/hang/…` never responds to a POST.
 *
 * Each one echoes handshakes, and does not count them.
 *
 * The first message is the list of ports, separated by commas. It answers each request with a report.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { machineMs, serveParent } from '../child.ts';

/** One arrival of an event that has a name. */
export interface Arrival {
  name: string;
  /** When the head of the request was read, by `machineMs()`. */
  atMs: number;
}

/** What arrived since the last `forget`. */
export interface ReceiverReport {
  requests: number;
  /** The number of distinct deliveries. */
  deliveries: number;
  arrivals: Arrival[];
}

export type ReceiverRequest =
  | { request: 'forget' }
  /** Answered as soon as `deliveries` distinct ids have arrived, or after `timeoutMs`, without the arrivals, which can be many. */
  | { request: 'wait'; deliveries: number; timeoutMs: number }
  | { request: 'report' }
  /** Answered with the arrivals since the last one, which it forgets. */
  | { request: 'take' };

const count = Number(process.argv[2]);

let requests = 0;
let deliveryIds = new Set<string>();
let arrivals: Arrival[] = [];
let waiting: { deliveries: number; answer(): void } | null = null;

async function recordEvent(request: IncomingMessage, endpoint: string, atMs: number): Promise<void> {
  const [name] = /bench-[\w-]+/.exec(await text(request)) ?? [];
  if (name === undefined) return;
  arrivals.push({ name, atMs });
  recordDelivery(`${endpoint}/${name}`);
}

function recordDelivery(id: string): void {
  deliveryIds.add(id);
  if (waiting !== null && deliveryIds.size >= waiting.deliveries) waiting.answer();
}

function handle(request: IncomingMessage, response: ServerResponse): void {
  const atMs = machineMs();
  // Replaces the header Keep-Alive, which undici obeys and our sender ignores. Without it, both close idle connections after 4 s.
  response.setHeader('connection', 'keep-alive');
  const id = String(request.headers['webhook-id']);
  if (id.startsWith('handshake_')) {
    request.pipe(response);
    return;
  }
  requests += 1;
  const [, behavior, parameter = '', delayMs = ''] = request.url?.split('/') ?? [];
  const respondAfter = (ms: string): unknown =>
    ms === '' ? response.end() : setTimeout(() => response.end(), Number(ms));
  if (behavior === 'event') {
    void recordEvent(request, parameter, atMs).then(() => respondAfter(delayMs));
    return;
  }
  // Two cells without numbers can give two deliveries the same id.
  recordDelivery(`${request.url} ${id}`);
  request.resume();
  if (behavior === 'slow') respondAfter(parameter);
  else if (behavior !== 'hang' || request.method !== 'POST') request.once('end', () => response.end());
}

async function listen(): Promise<number> {
  // Longer than all turns of a round, so that a request never meets a connection that the server is closing.
  const server = createServer({ keepAliveTimeout: 60_000, connectionsCheckingInterval: 60_000 }, handle);
  await once(server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no TCP port.');
  return address.port;
}

function report(listed: Arrival[]): ReceiverReport {
  return { requests, deliveries: deliveryIds.size, arrivals: listed };
}

function waitFor(deliveries: number, timeoutMs: number): Promise<ReceiverReport> {
  return new Promise((resolve) => {
    const answer = (): void => {
      clearTimeout(timer);
      waiting = null;
      resolve(report([]));
    };
    const timer = setTimeout(answer, timeoutMs);
    waiting = { deliveries, answer };
    if (deliveryIds.size >= deliveries) answer();
  });
}

const ports = await Promise.all(Array.from({ length: count }, listen));
serveParent<ReceiverRequest>(ports.join(','), (message) => {
  if (message.request === 'wait') return waitFor(message.deliveries, message.timeoutMs);
  if (message.request === 'forget') {
    requests = 0;
    deliveryIds = new Set();
    arrivals = [];
  }
  const listed = arrivals;
  if (message.request === 'take') arrivals = [];
  return report(listed);
});
