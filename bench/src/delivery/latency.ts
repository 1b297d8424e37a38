import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountId } from '@deedwire/domain';
import { max, median, quantile } from 'simple-statistics';
import { wholeNumber } from '../report.ts';
import type { Receivers } from './receivers.ts';
import type { Stack } from './stack.ts';

/** From the commit of an event until the receiver has read the head of the request. */
export interface LatencySummary {
  events: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

export function summarize(latenciesMs: readonly number[]): LatencySummary {
  const values = [...latenciesMs];
  const [p50Ms, p99Ms] = [quantile(values, 0.5), quantile(values, 0.99)];
  return { events: values.length, p50Ms, p99Ms, maxMs: max(values) };
}

/** The median of each figure over the rounds. */
export function medianLatency(rounds: readonly LatencySummary[]): LatencySummary {
  const medianOf = (name: keyof LatencySummary): number => median(rounds.map((round) => round[name]));
  return { events: medianOf('events'), p50Ms: medianOf('p50Ms'), p99Ms: medianOf('p99Ms'), maxMs: medianOf('maxMs') };
}

export function latencyRow(title: string, { events, p50Ms, p99Ms, maxMs }: LatencySummary): string[] {
  return [title, wholeNumber(events), ...[p50Ms, p99Ms, maxMs].map((ms) => `${ms.toFixed(1)} ms`)];
}

export const latencyHeader = (title: string): string[] => [title, 'events', 'p50', 'p99', 'max'];

/** Calls `work` `count` times at a fixed rate, whether or not earlier calls have ended. Resolves when all have ended. */
export async function paced(
  count: number,
  perSecond: number,
  work: (index: number) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  const startMs = performance.now();
  const running: Promise<unknown>[] = [];
  for (let index = 0; index < count && signal?.aborted !== true; index += 1) {
    const waitMs = startMs + (index * 1000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    running.push(work(index));
  }
  await Promise.all(running);
}

const pollMs = 50;

/** When each event arrived first, by name: as soon as there are `events`, or after `timeoutMs`. */
export async function firstArrivals(
  receiver: Receivers,
  events: number,
  timeoutMs: number,
): Promise<Map<string, number>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { arrivals } = await receiver.report();
    const first = new Map(arrivals.toReversed().map(({ probe, atMs }) => [probe, atMs]));
    if (first.size >= events || performance.now() > deadline) return first;
    await sleep(pollMs);
  }
}

// A guard against hanging only.
const timeoutMs = 180_000;

interface LatencyPlan {
  /** Of each account. */
  events: number;
  perSecond: number;
}

/** Commits events of an account whose only subscription is a `/probe` receiver. */
export async function measureLatency(
  stack: Pick<Stack, 'system' | 'receiver'>,
  account: AccountId,
  plan: LatencyPlan,
): Promise<LatencySummary> {
  const [summary] = await measureLatencies(stack, [account], plan);
  if (summary === undefined) throw new Error('There is no latency.');
  return summary;
}

/** The same for several accounts at the same time. */
export async function measureLatencies(
  { system, receiver }: Pick<Stack, 'system' | 'receiver'>,
  accounts: readonly AccountId[],
  { events, perSecond }: LatencyPlan,
): Promise<LatencySummary[]> {
  await receiver.forget();
  const committedMs = accounts.map(() => new Map<string, number>());
  await Promise.all(
    accounts.map((account, number) =>
      paced(events, perSecond, async (index) => {
        const name = `probe-${number}-${index}`;
        committedMs[number]?.set(name, await system.commitEvent(account, name));
      }),
    ),
  );
  const expected = events * accounts.length;
  const arrivedMs = await firstArrivals(receiver, expected, timeoutMs);
  if (arrivedMs.size < expected) throw new Error(`Only ${arrivedMs.size} of ${expected} events arrived.`);
  return committedMs.map((committed) =>
    summarize(Array.from(committed, ([name, ms]) => (arrivedMs.get(name) ?? Number.NaN) - ms)),
  );
}
