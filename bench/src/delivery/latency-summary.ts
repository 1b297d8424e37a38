import { median } from 'simple-statistics';

/** From the commit of an event until the receiver has read the head of the request. */
export interface LatencySummary {
  events: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** The median of each figure over the rounds. */
export function medianLatency(rounds: readonly LatencySummary[]): LatencySummary {
  const medianOf = (name: keyof LatencySummary): number => median(rounds.map((round) => round[name]));
  return { events: medianOf('events'), p50Ms: medianOf('p50Ms'), p99Ms: medianOf('p99Ms'), maxMs: medianOf('maxMs') };
}

export function latencyRow(title: string, { events, p50Ms, p99Ms, maxMs }: LatencySummary): string[] {
  return [title, events.toLocaleString('en-US'), ...[p50Ms, p99Ms, maxMs].map((ms) => `${ms.toFixed(1)} ms`)];
}

export const latencyHeader = (title: string): string[] => [title, 'events', 'p50', 'p99', 'max'];
