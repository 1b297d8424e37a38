import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { median } from 'simple-statistics';
import type { Child } from '../child.ts';
import type { Contestant } from './contestant.ts';
import type { LoadRequest, LoadResult } from './load-protocol.ts';
import type { PeerName } from './peer-names.ts';
import type { Shape } from './shapes.ts';
import type { Caller } from './world.ts';

export interface GraphqlPlan {
  rounds: number;
  roundMs: number;
  /**
   * Before the first round of each shape and number of connections: a request alone runs other code than one of many, which is
   * compiled after thousands of requests.
   */
  warmUpMs: number;
}

/** One round of one contestant. */
export interface GraphqlMeasurement extends LoadResult {
  /** User and system time of the server's process. */
  cpuMs: number;
  /** Resident memory of the server's process after the round. */
  residentBytes: number;
}

/** Medians over the rounds. */
export interface GraphqlResult {
  name: Contestant['name'];
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Of the server's process, per request. */
  cpuMicroseconds: number;
  residentBytes: number;
}

export type Ratios = Record<PeerName, number>;

export interface ConnectionsResult {
  connections: number;
  results: GraphqlResult[];
  /** Medians over the rounds of our requests per second divided by those of the peer in the same round. */
  ratios: Ratios;
  /** Likewise, of our p99. Below 1, ours is the shorter one. */
  p99Ratios: Ratios;
}

export const connectionCounts = [32, 1] as const;

// Guards against hanging only.
const availableTimeoutMs = 300_000;

/**
 * Measures the contestants one after another in each round, so that other load on the machine affects all of them. Each round
 * starts with another contestant.
 *
 * @throws {Error} if the contestants answer differently
 */
export async function measureShape(
  ...parameters: Parameters<typeof measureContestants<Contestant['name']>>
): Promise<ConnectionsResult[]> {
  const measured = await measureContestants(...parameters);
  return Array.from(measured, ([connections, rounds]) => connectionsResult(connections, rounds));
}

/**
 * The same, without a summary.
 *
 * @returns by the number of connections and by contestant, the rounds in order
 */
export async function measureContestants<Name extends string>(
  shape: Shape,
  contestants: readonly Contestant<Name>[],
  callers: readonly Caller[],
  load: Child<LoadRequest, LoadResult>,
  { rounds, roundMs, warmUpMs }: GraphqlPlan,
  progress: (line: string) => void,
): Promise<Map<number, Map<Name, GraphqlMeasurement[]>>> {
  const leastBytes = await checkAnswers(shape, contestants, callers);
  const request = (contestant: Contestant<Name>, connections: number, durationMs: number): LoadRequest => {
    const { origin, pathname } = new URL(contestant.url);
    const headers = callers.map((caller) => headersOf(contestant, caller));
    const body = JSON.stringify({ query: shape.query });
    return { origin, path: pathname, headers, body, leastBytes, connections, durationMs };
  };
  const all = new Map<number, Map<Name, GraphqlMeasurement[]>>();
  for (const connections of connectionCounts) {
    for (const contestant of contestants) {
      progress(`${connections} connections, warm-up: ${contestant.name}`);
      await load.ask(request(contestant, connections, warmUpMs));
    }
    const measured = new Map<Name, GraphqlMeasurement[]>(contestants.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < contestants.length; turn += 1) {
        const contestant = contestants[(round + turn) % contestants.length];
        if (contestant === undefined) continue;
        const before = await contestant.usage();
        const result = await load.ask(request(contestant, connections, roundMs));
        const { cpuMs, residentBytes } = await contestant.usage();
        measured.get(contestant.name)?.push({ ...result, cpuMs: cpuMs - before.cpuMs, residentBytes });
      }
      const rates = [...measured].map(([name, each]) => `${name} ${Math.round(perSecond(each.at(-1)))}/s`);
      progress(`${connections} connections, round ${round + 1} of ${rounds}: ${rates.join(', ')}`);
    }
    all.set(connections, measured);
  }
  return all;
}

function headersOf(contestant: Contestant<string>, caller: Caller): Record<string, string> {
  return { 'content-type': 'application/json', accept: 'application/json', ...contestant.headersOf(caller) };
}

/** Repeats a query while the server is unavailable, as it may be on a busy machine until its connections are open. */
async function askUntilAvailable(url: string, request: RequestInit): Promise<{ status: number; text: string }> {
  const deadline = performance.now() + availableTimeoutMs;
  for (;;) {
    const response = await fetch(url, request);
    const text = await response.text();
    if (response.status !== 503 || performance.now() > deadline) return { status: response.status, text };
    await sleep(100);
  }
}

/** Returns the bytes of the shortest response. */
async function checkAnswers(
  { query }: Shape,
  contestants: readonly Contestant<string>[],
  callers: readonly Caller[],
): Promise<number> {
  const body = JSON.stringify({ query });
  const lengths = await Promise.all(
    callers.map(async (caller) => {
      const answers = await Promise.all(
        contestants.map(async (contestant) => {
          const headers = headersOf(contestant, caller);
          const { status, text } = await askUntilAvailable(contestant.url, { method: 'POST', headers, body });
          const { data, errors }: { data?: unknown; errors?: unknown } = JSON.parse(text);
          if (status !== 200 || errors !== undefined) throw new Error(`${contestant.name}: ${text}`);
          return { name: contestant.name, data };
        }),
      );
      const [first] = answers;
      for (const { name, data } of answers) {
        if (!isDeepStrictEqual(data, first?.data))
          throw new Error(`${name} and ${first?.name ?? ''} answer differently to ${query}`);
      }
      return JSON.stringify({ data: first?.data }).length;
    }),
  );
  return Math.min(...lengths);
}

/** `measured` has the rounds of each contestant, in order. */
export function connectionsResult(
  connections: number,
  measured: ReadonlyMap<Contestant['name'], readonly GraphqlMeasurement[]>,
): ConnectionsResult {
  const roundsOf = (name: Contestant['name']) => measured.get(name) ?? [];
  const ratiosOf = (value: (measurement: GraphqlMeasurement | undefined) => number): Ratios => {
    const ratio = (peer: PeerName) =>
      median(roundsOf('deedwire').map((ours, round) => value(ours) / value(roundsOf(peer)[round])));
    return {
      'mercurius-jit': ratio('mercurius-jit'),
      'mercurius-guarded': ratio('mercurius-guarded'),
      mercurius: ratio('mercurius'),
      apollo: ratio('apollo'),
    };
  };
  return {
    connections,
    results: [...measured].map(([name, rounds]) => ({
      name,
      requestsPerSecond: median(rounds.map(perSecond)),
      p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
      cpuMicroseconds: median(rounds.map(({ cpuMs, requests }) => (cpuMs / requests) * 1000)),
      residentBytes: median(rounds.map(({ residentBytes }) => residentBytes)),
    })),
    ratios: ratiosOf(perSecond),
    p99Ratios: ratiosOf((measurement) => measurement?.p99Ms ?? Number.NaN),
  };
}

export function perSecond(measurement: Pick<GraphqlMeasurement, 'requests' | 'elapsedMs'> | undefined): number {
  return measurement === undefined ? Number.NaN : (measurement.requests / measurement.elapsedMs) * 1000;
}
