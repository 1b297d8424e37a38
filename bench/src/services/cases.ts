import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { BenchProblem } from '../bench.ts';
import { machineMs } from '../child.ts';
import { arrivalLatencies } from '../delivery/latency.ts';
import type { Receivers } from '../delivery/receivers.ts';
import type { Load } from '../graphql/load.ts';
import { difference } from '../rounds.ts';
import type { EventsRound } from './report.ts';
import type { EventRequest, Service, Tenant } from './service-api.ts';

export const connections = 32;
const perSecond = 20;
// A guard against hanging only.
const loadTimeoutMs = 300_000;
// A service may record the results of deliveries after the last one arrived.
const settleMs = 2_000;

/** Sends events and waits for their deliveries. A delivery counts when the receiver has read it. */
export async function sendEvents(
  service: Service,
  { event }: Tenant,
  { endpoints, events }: { endpoints: number; events: number },
  { receiver, load }: { receiver: Receivers; load: Load },
): Promise<EventsRound> {
  await receiver.forget();
  const before = await service.cpuMs();
  const startMs = performance.now();
  const sent = await load.ask({ ...event, connections, durationMs: loadTimeoutMs, requests: events });
  const operations = sent.operations * endpoints;
  await receiver.waitFor(operations);
  const elapsedMs = performance.now() - startMs;
  await sleep(settleMs);
  const after = await service.cpuMs();
  return { operations, elapsedMs, cpuMs: difference(after, before) };
}

/**
 * Doubles the number of events until they take `leastMs`, which also compiles code and opens connections.
 *
 * @returns the number of events that would take `roundMs` at the last rate
 */
export async function eventsPerRound(
  send: (events: number) => Promise<EventsRound>,
  { leastMs, roundMs }: { leastMs: number; roundMs: number },
): Promise<number> {
  let events = connections;
  let { elapsedMs } = await send(events);
  while (elapsedMs < leastMs) {
    events *= 2;
    ({ elapsedMs } = await send(events));
  }
  return Math.max(connections, Math.round((events / elapsedMs) * roundMs));
}

/**
 * Sends events at a fixed rate to a tenant with one endpoint.
 *
 * @returns the milliseconds from each call to its arrival, infinite if it did not arrive within `timeoutMs` of the last call
 */
export async function measureLatencies(
  event: EventRequest,
  { events, timeoutMs }: { events: number; timeoutMs: number },
  receiver: Receivers,
): Promise<number[]> {
  const pool = new Pool(event.origin);
  const call = async (name: string): Promise<number> => {
    const calledMs = machineMs();
    await sendEvent(pool, event, name);
    return calledMs;
  };
  try {
    const [latencies = []] = await arrivalLatencies(receiver, [call], { events, perSecond, timeoutMs });
    return latencies;
  } finally {
    await pool.close();
  }
}

/** @param name of the event, after `bench-` */
export async function sendEvent(pool: Pool, event: EventRequest, name: string): Promise<void> {
  const { origin, path, headers, status = 200 } = event;
  const body = event.body.replace('{n}', () => name);
  const response = await pool.request({ method: 'POST', path, headers: headers[0] ?? {}, body });
  const text = await response.body.text();
  if (response.statusCode !== status)
    throw new BenchProblem(
      `${origin} responds ${response.statusCode} to POST ${path}, but the bench expects ${status}. The response: ${JSON.stringify(text.slice(0, 300))}`,
    );
}
