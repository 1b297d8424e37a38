/**
 * Sends a request every 10 ms, each on the first free of its connections, for each message, a `VictimRequest`, and answers with
 * a `VictimResult`. Ends with its parent.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { percentile } from '../percentile.ts';
import type { VictimRequest, VictimResult } from './protocol.ts';

const intervalMs = 10;
const body = '{"query":"{ partner { id } }"}';
const pools = new Map<string, Pool>();

function poolOf(origin: string): Pool {
  let pool = pools.get(origin);
  if (!pool) {
    pool = new Pool(origin, { connections: 8 });
    pools.set(origin, pool);
  }
  return pool;
}

async function run({ url, headers, durationMs }: VictimRequest): Promise<VictimResult> {
  const { origin, pathname } = new URL(url);
  const pool = poolOf(origin);
  const latencies: number[] = [];
  const pending: Promise<void>[] = [];
  async function send(dueMs: number): Promise<void> {
    const response = await pool.request({ method: 'POST', path: pathname, headers, body });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`The victim received ${response.statusCode}: ${text}`);
    // From when the request was due: waiting for the event loop of this process or for a free connection counts.
    latencies.push(performance.now() - dueMs);
  }
  const startMs = performance.now();
  for (let dueMs = startMs; dueMs < startMs + durationMs; dueMs += intervalMs) {
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 0) await sleep(earlyMs);
    pending.push(send(dueMs));
  }
  await Promise.all(pending);
  return { requests: latencies.length, p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
}

process.on('message', (request: VictimRequest) => {
  void run(request).then((result) => process.send?.(result));
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
