import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { median } from 'simple-statistics';
import { cpuMicroseconds, interleaved, type Measurement, medianRatio, perSecond, rateRatio } from '../rounds.ts';
import type { Contestant } from './contestant.ts';
import type { LoadRequest, LoadResult } from './load-process.ts';
import type { Load } from './load.ts';
import { byPeer } from './peer-names.ts';
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

/** One round of one contestant, with the CPU time of the server's process, and its resident memory after the round. */
export type GraphqlMeasurement = LoadResult & Measurement & { residentBytes: number };

export const connectionCounts = [32, 1] as const;

// Guards against hanging only.
const availableTimeoutMs = 300_000;

/**
 * Measures the contestants with each number of connections.
 *
 * @returns by the number of connections and by contestant, the rounds in order
 * @throws {Error} if the contestants answer differently
 */
export async function measureContestants(
  shape: Shape,
  contestants: readonly Contestant[],
  load: Load,
  { rounds, roundMs, warmUpMs }: GraphqlPlan,
  progress: (line: string) => void,
): Promise<Map<number, Map<string, GraphqlMeasurement[]>>> {
  const leastBytes = await checkAnswers(shape, contestants);
  const request = (contestant: Contestant, connections: number, durationMs: number): LoadRequest => {
    const { origin, pathname } = new URL(contestant.url);
    const headers = callersOf(contestant, shape).map((caller) => headersOf(contestant, caller));
    const body = JSON.stringify({ query: shape.query });
    return { origin, path: pathname, headers, body, leastBytes, connections, durationMs };
  };
  const measured = new Map<number, Map<string, GraphqlMeasurement[]>>();
  for (const connections of connectionCounts) {
    for (const contestant of contestants) {
      progress(`${connections} connections, warm-up: ${contestant.name}`);
      await load.ask(request(contestant, connections, warmUpMs));
    }
    const ofConnections = await interleaved(contestants, rounds, async (contestant, round) => {
      const before = await contestant.usage();
      const result = await load.ask(request(contestant, connections, roundMs));
      const { cpuMs, residentBytes } = await contestant.usage();
      const rate = Math.round(perSecond(result));
      progress(`${connections} connections, round ${round} of ${rounds}: ${contestant.name} ${rate}/s`);
      return { ...result, cpuMs: cpuMs - before.cpuMs, residentBytes };
    });
    measured.set(connections, ofConnections);
  }
  return measured;
}

function callersOf({ callers }: Contestant, { name }: Shape): readonly Caller[] {
  return callers.get(name) ?? [];
}

function headersOf(contestant: Contestant, caller: Caller): Record<string, string> {
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
async function checkAnswers(shape: Shape, contestants: readonly Contestant[]): Promise<number> {
  const body = JSON.stringify({ query: shape.query });
  const ask = async (contestant: Contestant, caller: Caller): Promise<unknown> => {
    const headers = headersOf(contestant, caller);
    const { status, text } = await askUntilAvailable(contestant.url, { method: 'POST', headers, body });
    const { data, errors }: { data?: unknown; errors?: unknown } = JSON.parse(text);
    if (status !== 200 || errors !== undefined) throw new Error(`${contestant.name}: ${text}`);
    return data;
  };
  const [first, ...others] = await Promise.all(
    contestants.map(async (contestant) => ({
      contestant,
      answers: await Promise.all(callersOf(contestant, shape).map((caller) => ask(contestant, caller))),
    })),
  );
  if (first === undefined) throw new Error('There is no contestant.');
  for (const { contestant, answers } of others) {
    // The records of another database have other ids, times and cursors.
    const compared = contestant.callers === first.contestant.callers ? same : withoutTexts;
    if (!isDeepStrictEqual(answers.map(compared), first.answers.map(compared)))
      throw new Error(`${contestant.name} and ${first.contestant.name} answer differently to ${shape.query}`);
  }
  return Math.min(...first.answers.map((data) => JSON.stringify({ data }).length));
}

const same = (data: unknown): unknown => data;

/** Keeps the structure: which fields, lists and nulls there are. */
function withoutTexts(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data, (_, value: unknown) => (typeof value === 'string' ? '' : value)));
}

export type ConnectionsResult = ReturnType<typeof connectionsResult>;

/**
 * Medians over the rounds.
 *
 * @param measured the rounds of each contestant, in order
 */
export function connectionsResult(connections: number, measured: ReadonlyMap<string, readonly GraphqlMeasurement[]>) {
  const roundsOf = (name: string) => measured.get(name) ?? [];
  const ours = roundsOf('deedwire');
  return {
    connections,
    results: Array.from(measured, ([name, rounds]) => ({
      name,
      requestsPerSecond: median(rounds.map(perSecond)),
      p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
      cpuMicroseconds: median(rounds.map(cpuMicroseconds)),
      residentBytes: median(rounds.map(({ residentBytes }) => residentBytes)),
    })),
    // Ours divided by the value of the peer in the same round.
    ratios: byPeer((peer) => rateRatio(ours, roundsOf(peer))),
    p99Ratios: byPeer((peer) => medianRatio(ours, roundsOf(peer), ({ p99Ms }) => p99Ms) ?? Number.NaN),
  };
}
