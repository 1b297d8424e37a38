import type { LatencySummary } from '../delivery/latency.ts';
import { sumOf } from '../delivery/statement-log.ts';
import { ours } from '../delivery/workloads.ts';
import { wholeNumber } from '../report.ts';
import { type Bar, barChart } from './bar-chart.ts';
import type { DeliveryReport, Results } from './results.ts';

/** The charts of the page, by file name. */
export async function charts({ delivery, graphql }: Results): Promise<Record<string, string>> {
  const { latency, hanging, history } = delivery;
  return {
    'throughput.svg': await barChart({
      title: 'Webhooks delivered, beside queues',
      axis: 'Deliveries per second. More is better.',
      shared: true,
      panels: delivery.workloads.map(({ title, results }) => ({
        title,
        bars: rateBars(results),
      })),
    }),
    'queries.svg': await barChart({
      title: 'GraphQL requests, beside other servers',
      axis: 'Requests per second with 32 connections. More is better.',
      shared: false,
      panels: graphql.shapes.map(({ title, connections }) => ({
        title: title.slice(0, 1).toUpperCase() + title.slice(1),
        bars: rateBars(
          (connections[0]?.results ?? []).map(({ name, requestsPerSecond: perSecond }) => ({ name, perSecond })),
        ),
      })),
    }),
    'latency.svg': await barChart({
      title: 'Latency beside endpoints that hang',
      axis: 'Milliseconds from commit to first byte. Less is better.',
      shared: true,
      panels: latencyPanels([
        ['alone', hanging.alone],
        [`beside ${wholeNumber(hanging.endpoints)}`, hanging.beside],
        ['first second', hanging.start],
        ['half load', latency.halfLoad],
      ]),
    }),
    'growth.svg': await barChart({
      title: 'Cost of a delivery as the history grows',
      axis: 'Milliseconds of SQL per 1,000 deliveries. Less is better.',
      shared: true,
      panels: [
        { title: 'New events', bars: growthBars(history, 'newEvents') },
        { title: 'Deliveries that wait when the worker starts', bars: growthBars(history, 'backlog') },
      ],
    }),
  };
}

/** Contestants whose name in the charts is not that in the tables. */
const shownNames = new Map([
  [ours, 'Deedwire'],
  ['bare', 'POST, no queue'],
  ['bullmq', 'BullMQ'],
  ['mercurius-jit', 'Mercurius, JIT'],
  ['mercurius-guarded', 'JIT, guarded'],
  ['mercurius', 'Mercurius'],
  ['apollo', 'Apollo Server'],
]);

/** The highest rate first. */
function rateBars(results: readonly { name: string; perSecond: number }[]): Bar[] {
  const bars = results.map(({ name, perSecond: value }) => {
    return { label: shownNames.get(name) ?? name, value, text: wholeNumber(value), highlighted: name === ours };
  });
  return bars.toSorted((one, other) => other.value - one.value);
}

function latencyPanels(rows: readonly (readonly [string, LatencySummary])[]) {
  const bars = (select: (summary: LatencySummary) => number): Bar[] =>
    rows.map(([label, summary], index) => ({
      label,
      value: select(summary),
      text: milliseconds(select(summary)),
      highlighted: index === 1,
    }));
  return [
    { title: 'Median', bars: bars(({ p50Ms }) => p50Ms) },
    { title: '99th percentile', bars: bars(({ p99Ms }) => p99Ms) },
  ];
}

function growthBars({ sizes }: DeliveryReport['history'], kind: 'newEvents' | 'backlog'): Bar[] {
  return sizes.map((size, index) => ({
    label: `${wholeNumber(size.storedDeliveries)} stored`,
    value: sumOf(size[kind]),
    text: milliseconds(sumOf(size[kind])),
    highlighted: index === sizes.length - 1,
  }));
}

function milliseconds(value: number): string {
  return `${value.toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} ms`;
}
