import { latencyHeader, latencyRow, type LatencySummary } from '../delivery/latency-summary.ts';
import { type StatementTimes, sum } from '../delivery/report.ts';
import { markdownTable, wholeNumber } from '../markdown-table.ts';

export interface RateResult {
  rounds: number;
  receivers: {
    responseMs: number;
    deliveries: number;
    /** Of new events in the lane while nothing else is to do. */
    idlePerSecond: number;
    replayPerSecond: number;
    /** In the same round. */
    rateRatio: number;
  }[];
}

export interface BesideResult {
  rounds: number;
  responseMs: number;
  /** Failed deliveries of the subscription when the first replay starts. */
  failures: number;
  replayedPerSecond: number;
  /** Medians over the rounds. */
  live: { alone: LatencySummary; beside: LatencySummary; longerMs: number };
  others: { alone: LatencySummary; beside: LatencySummary; p99Ratio: number };
}

export interface GrowthResult {
  rounds: number;
  deliveries: number;
  kinds: {
    name: string;
    /** Milliseconds of the statements of a replay per 1,000 deliveries that it queues. The smallest size first. */
    sizes: { storedDeliveries: number; times: StatementTimes }[];
    growth: number;
  }[];
}

export function rateMarkdown({ rounds, receivers }: RateResult): string {
  return [
    `Deliveries per second of one subscription: new events while nothing else is to do, and a replay. ${rounds} rounds, medians.`,
    markdownTable([
      ['receiver', 'deliveries', 'new events', 'replay', 'ratio'],
      ...receivers.map(({ responseMs, deliveries, idlePerSecond, replayPerSecond, rateRatio }) => [
        `${responseMs} ms`,
        wholeNumber(deliveries),
        wholeNumber(idlePerSecond),
        wholeNumber(replayPerSecond),
        `${rateRatio.toFixed(2)} ×`,
      ]),
    ]),
  ].join('\n\n');
}

export function besideMarkdown(result: BesideResult): string {
  const { rounds, responseMs, failures, replayedPerSecond, live, others } = result;
  return [
    `Commit to first byte beside a replay of ${wholeNumber(failures)} deliveries to a receiver of ${responseMs} ms, which sent ${wholeNumber(replayedPerSecond)} per second. ${rounds} rounds, medians.`,
    markdownTable([
      latencyHeader('New events'),
      latencyRow('of the subscription, alone', live.alone),
      latencyRow('of the subscription, beside its replay', live.beside),
      latencyRow('of another account, alone', others.alone),
      latencyRow('of another account, beside the replay', others.beside),
    ]),
    `p99 of the subscription: ${live.longerMs.toFixed(1)} ms longer. p99 of the other account: ${others.p99Ratio.toFixed(2)} ×.`,
  ].join('\n\n');
}

export function growthMarkdown({ rounds, deliveries, kinds }: GrowthResult): string {
  const tables = kinds.map(({ name, sizes, growth }) => {
    const names = [...new Set(sizes.flatMap(({ times }) => Object.keys(times)))].toSorted();
    return markdownTable([
      [name, ...sizes.map(({ storedDeliveries }) => wholeNumber(storedDeliveries))],
      ...names.map((each) => [each, ...sizes.map(({ times }) => (times[each] ?? 0).toFixed(1))]),
      [`sum: ${growth.toFixed(2)} ×`, ...sizes.map(({ times }) => sum(times).toFixed(1))],
    ]);
  });
  return [
    `Milliseconds of the statements of a replay per 1,000 deliveries, by the number of stored deliveries of the subscription. ${rounds} rounds of ${wholeNumber(deliveries)}, medians.`,
    ...tables,
  ].join('\n\n');
}

export interface PullResult {
  rounds: number;
  /** How many pages of 100 events a round reads of each history. */
  pages: number;
  /** The smallest first. */
  sizes: { storedDeliveries: number; pageMs: number; startMs: number }[];
  pageGrowth: number;
  startGrowth: number;
}

export function pullMarkdown({ rounds, pages, sizes, pageGrowth, startGrowth }: PullResult): string {
  return [
    `Milliseconds of a page of 100 events with their bodies, and of finding the first event of a time, by the number of stored deliveries of the subscription. ${rounds} rounds of ${wholeNumber(pages)} pages, medians.`,
    markdownTable([
      ['pull', ...sizes.map(({ storedDeliveries }) => wholeNumber(storedDeliveries)), 'growth'],
      ['a page', ...sizes.map(({ pageMs }) => pageMs.toFixed(2)), `${pageGrowth.toFixed(2)} ×`],
      ['the first event of a time', ...sizes.map(({ startMs }) => startMs.toFixed(2)), `${startGrowth.toFixed(2)} ×`],
    ]),
  ].join('\n\n');
}

export interface BesidePullResult {
  rounds: number;
  stored: number;
  pagesPerSecond: number;
  summaries: { name: string; alone: LatencySummary; beside: LatencySummary; p99Ratio: number }[];
}

export function besidePullMarkdown({ rounds, stored, pagesPerSecond, summaries }: BesidePullResult): string {
  return [
    `Commit to first byte beside ${pagesPerSecond} pages of 100 events per second of an account with ${wholeNumber(stored)} stored deliveries of two accounts. ${rounds} rounds, medians.`,
    markdownTable([
      latencyHeader('New events'),
      ...summaries.flatMap(({ name, alone, beside }) => [
        latencyRow(`${name}, alone`, alone),
        latencyRow(`${name}, beside the pages`, beside),
      ]),
    ]),
    summaries.map(({ name, p99Ratio }) => `p99 ${name}: ${p99Ratio.toFixed(2)} ×.`).join(' '),
  ].join('\n\n');
}
