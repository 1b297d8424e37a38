import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountId } from '@deedwire/core';
import { max, median, quantile } from 'simple-statistics';
import { machineMs } from '../child.ts';
import { wholeNumber } from '../report.ts';
import type { Receivers } from './receivers.ts';
import type { Stack } from './stack.ts';

export type LatencySummary = ReturnType<typeof summarize>;

/** Of the times from the commit of an event until the receiver has read the head of the request. */
export function summarize(latenciesMs: readonly number[]) {
  const values = [...latenciesMs];
  return { events: values.length, p50Ms: quantile(values, 0.5), p99Ms: quantile(values, 0.99), maxMs: max(values) };
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

interface LatencyPlan {
  /** Of each cause. */
  events: number;
  perSecond: number;
  /** After the last event was caused. */
  timeoutMs: number;
}

/**
 * Causes events at a fixed rate, which arrive at an `/event` receiver.
 *
 * @param causes each causes an event called `bench-<name>`, and returns when its clock starts, by `machineMs()`
 * @returns of each cause, the milliseconds until each event arrived first, infinite if it did not
 */
export async function arrivalLatencies(
  receiver: Receivers,
  causes: readonly ((name: string) => Promise<number>)[],
  { events, perSecond, timeoutMs }: LatencyPlan,
): Promise<number[][]> {
  await receiver.forget();
  const run = Math.round(machineMs());
  const startedMs = causes.map(() => new Map<string, number>());
  await Promise.all(
    causes.map((cause, number) =>
      paced(events, perSecond, async (index) => {
        const name = `${run}-${number}-${index}`;
        startedMs[number]?.set(`bench-${name}`, await cause(name));
      }),
    ),
  );
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { arrivals } = await receiver.report();
    const first = new Map(arrivals.toReversed().map(({ name, atMs }) => [name, atMs]));
    if (first.size >= events * causes.length || performance.now() > deadline)
      return startedMs.map((each) => Array.from(each, ([name, ms]) => (first.get(name) ?? Infinity) - ms));
    await sleep(pollMs);
  }
}

// A guard against hanging only.
const timeoutMs = 180_000;

/** Commits events of accounts whose only subscription is an `/event` receiver, at the same time. */
export async function measureLatencies(
  { system, receiver }: Pick<Stack, 'system' | 'receiver'>,
  accounts: readonly AccountId[],
  plan: Omit<LatencyPlan, 'timeoutMs'>,
): Promise<LatencySummary[]> {
  const causes = accounts.map((account) => (name: string) => system.commitEvent(account, `bench-${name}`));
  const latencies = await arrivalLatencies(receiver, causes, { ...plan, timeoutMs });
  if (!latencies.flat().every(Number.isFinite)) throw new Error('Not all events arrived.');
  return latencies.map(summarize);
}

/** The same for one account. */
export async function measureLatency(
  stack: Pick<Stack, 'system' | 'receiver'>,
  account: AccountId,
  plan: Omit<LatencyPlan, 'timeoutMs'>,
): Promise<LatencySummary> {
  const [summary] = await measureLatencies(stack, [account], plan);
  if (summary === undefined) throw new Error('There is no latency.');
  return summary;
}
