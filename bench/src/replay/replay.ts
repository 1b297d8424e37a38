import { type Bench, benchOfParts, part, type ResultOf } from '../bench.ts';
import { latencyHeader, latencyRow } from '../delivery/latency.ts';
import { timesTable } from '../delivery/report.ts';
import { markdownTable, times, wholeNumber } from '../report.ts';
import { measureBeside } from './parts/beside.ts';
import { measureGrowth } from './parts/growth.ts';
import { measurePull } from './parts/pull.ts';
import { measureRate } from './parts/rate.ts';

export const replay: Bench = benchOfParts({
  name: 'replay',
  summary: 'replays of the webhook engine: their rate, and what they cost new events; and pages of events',
  options: {
    stored: {
      value: 'number',
      summary:
        'deliveries of the larger history of growth and pull; the default is 1,000,000, which takes half a minute to store',
      isCount: true,
    },
  },
  parts: {
    rate: part(
      'the rate of a replay beside that of new events in an idle subscription, for receivers of 20, 100 and 400 ms',
      measureRate,
      rateMarkdown,
    ),
    beside: part(
      'the latency of new events beside a replay of 100,000 deliveries to a slow receiver, and that of another account',
      measureBeside,
      besideMarkdown,
    ),
    growth: part(
      'the time of the statements of a replay with 10 thousand and with 1 million stored deliveries (--stored 5000000: 5)',
      measureGrowth,
      growthMarkdown,
    ),
    pull: part(
      'the time of a page of `webhookEvents` with 10 thousand and with 1 million stored deliveries (--stored 5000000: 5)',
      measurePull,
      pullMarkdown,
    ),
  },
});

function rateMarkdown({ rounds, receivers }: ResultOf<typeof measureRate>): string {
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

function besideMarkdown(result: ResultOf<typeof measureBeside>): string {
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

function growthMarkdown({ rounds, deliveries, kinds }: ResultOf<typeof measureGrowth>): string {
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

function pullMarkdown({ rounds, pages, sizes, pageGrowth, startGrowth }: ResultOf<typeof measurePull>): string {
  return [
    `Milliseconds of a page of 100 events with their bodies, and of finding the first event of a time, by the number of stored deliveries of the subscription. ${rounds} rounds of ${wholeNumber(pages)} pages, medians.`,
    markdownTable([
      ['pull', ...sizes.map(({ storedDeliveries }) => wholeNumber(storedDeliveries)), 'growth'],
      ['a page', ...sizes.map(({ pageMs }) => pageMs.toFixed(2)), times(pageGrowth)],
      ['the first event of a time', ...sizes.map(({ startMs }) => startMs.toFixed(2)), times(startGrowth)],
    ]),
  ].join('\n\n');
}
