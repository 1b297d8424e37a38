/**
 * Sends requests from this process. Each message is a `LoadRequest`; each response is a `LoadResult`. The connections stay open
 * between messages.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from 'simple-statistics';
import { Client } from 'undici';
import { dispatch } from '../bare-request.ts';
import { serveParent } from '../child.ts';
import type { Done } from '../rounds.ts';

export interface LoadRequest {
  origin: string;
  path: string;
  /** Of each connection. With fewer of them than connections, they take turns. */
  headers: readonly Record<string, string>[];
  /** They take turns over the requests instead. */
  eachRequest?: boolean;
  /** `{n}` stands for a number that no other request has. */
  body: string;
  /** Of the responses. 200 if omitted. */
  status?: number;
  /** A shorter response fails the bench. */
  leastBytes: number;
  /** Counts responses with status 503, which fail the bench otherwise. */
  mayRefuse?: boolean;
  connections: number;
  durationMs: number;
  /** Between the response and the next request of a connection. */
  pauseMs?: number;
  /** Ends after this many requests, if that is sooner. Each connection sends at least one. */
  requests?: number;
}

/** An operation is a response with the expected status. */
export interface LoadResult extends Done {
  /** With status 503. Their times do not count. */
  refused: number;
  p50Ms: number;
  p99Ms: number;
}

const keepAlive = { pipelining: 1, keepAliveTimeout: 600_000, keepAliveMaxTimeout: 600_000 };
const clients = new Map<string, Client[]>();

function clientsOf(origin: string, connections: number): Client[] {
  const open = clients.get(origin) ?? [];
  while (open.length < connections) open.push(new Client(origin, keepAlive));
  clients.set(origin, open);
  return open.slice(0, connections);
}

let requests = 0;

/** Sends one request and waits for the whole response. Returns its status. */
async function send(client: Client, headers: Record<string, string>, request: LoadRequest): Promise<number> {
  const { path, status: expected = 200, leastBytes, mayRefuse = false } = request;
  const body = request.body.replace('{n}', () => String((requests += 1)));
  const { status, bytes } = await dispatch(client, { path, headers, body });
  if ((status === expected && bytes >= leastBytes) || (status === 503 && mayRefuse)) return status;
  throw new Error(`A response with status ${status} and ${bytes} bytes.`);
}

async function run(request: LoadRequest): Promise<LoadResult> {
  const latencies: number[] = [];
  let refused = 0;
  const startMs = performance.now();
  const endMs = startMs + request.durationMs;
  const { status: expected = 200, requests: most = Number.POSITIVE_INFINITY } = request;
  let sent = 0;
  await Promise.all(
    clientsOf(request.origin, request.connections).map(async (client, index) => {
      let nowMs = performance.now();
      do {
        const turn = request.eachRequest === true ? sent : index;
        const headers = request.headers[turn % request.headers.length] ?? {};
        sent += 1;
        const sentMs = nowMs;
        const status = await send(client, headers, request);
        nowMs = performance.now();
        if (status === expected) latencies.push(nowMs - sentMs);
        else refused += 1;
        if (request.pauseMs !== undefined) {
          await sleep(request.pauseMs);
          nowMs = performance.now();
        }
      } while (nowMs < endMs && sent < most);
    }),
  );
  return {
    operations: latencies.length,
    refused,
    elapsedMs: performance.now() - startMs,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  };
}

serveParent('ready', run);
