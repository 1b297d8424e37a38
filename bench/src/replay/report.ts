import { latencyHeader, latencyRow } from '../delivery/latency.ts';
import { timesTable } from '../delivery/report.ts';
import { markdownTable, times, wholeNumber } from '../report.ts';
import type { BesideResult } from './parts/beside.ts';
import type { GrowthResult } from './parts/growth.ts';
import type { PullResult } from './parts/pull.ts';
import type { RateResult } from './parts/rate.ts';

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
        times(rateRatio),
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
    `p99 of the subscription: ${live.longerMs.toFixed(1)} ms longer. p99 of the other account: ${times(others.p99Ratio)}.`,
  ].join('\n\n');
}

export function growthMarkdown({ rounds, deliveries, kinds }: GrowthResult): string {
  return [
    `Milliseconds of the statements of a replay per 1,000 deliveries, by the number of stored deliveries of the subscription. ${rounds} rounds of ${wholeNumber(deliveries)}, medians.`,
    ...kinds.map(({ name, sizes }) =>
      timesTable(
        name,
        sizes.map(({ storedDeliveries }) => storedDeliveries),
        sizes.map((size) => size.times),
      ),
    ),
  ].join('\n\n');
}

export function pullMarkdown({ rounds, pages, sizes, pageGrowth, startGrowth }: PullResult): string {
  return [
    `Milliseconds of a page of 100 events with their bodies, and of finding the first event of a time, by the number of stored deliveries of the subscription. ${rounds} rounds of ${wholeNumber(pages)} pages, medians.`,
    markdownTable([
      ['pull', ...sizes.map(({ storedDeliveries }) => wholeNumber(storedDeliveries)), 'growth'],
      ['a page', ...sizes.map(({ pageMs }) => pageMs.toFixed(2)), times(pageGrowth)],
      ['the first event of a time', ...sizes.map(({ startMs }) => startMs.toFixed(2)), times(startGrowth)],
    ]),
  ].join('\n\n');
}
