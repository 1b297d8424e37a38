import { introduction, markdownTable, type ReportHead, times, wholeNumber } from '../report.ts';
import { peerNames } from './peer-names.ts';
import type { ConnectionsResult, GraphqlPlan } from './rounds.ts';

/** What `pnpm bench graphql --json` prints. */
export interface GraphqlReport extends ReportHead, GraphqlPlan {
  /** Our requests per second divided by those of each peer, with 32 connections: the lowest of all shapes. */
  ratios: Record<string, number>;
  /** Our p99 divided by that of each peer, with 32 connections: the highest of all shapes. */
  p99Ratios: Record<string, number>;
  shapes: ShapeResult[];
}

export interface ShapeResult {
  name: string;
  title: string;
  connections: ConnectionsResult[];
}

/** Formats the report as Markdown tables. */
export function graphqlMarkdown(report: GraphqlReport): string {
  const { rounds, roundMs, ratios, p99Ratios, shapes } = report;
  const title = `graphql: ${rounds} interleaved rounds of ${roundMs} ms, medians. "ours" divides our requests per second by those of the row in the same round; "our p99" divides our p99 by that of the row.`;
  const lowest = peerNames.map((peer) => `${peer} ${times(ratios[peer])} (p99 ${times(p99Ratios[peer])})`);
  return [
    introduction(title, report),
    `The lowest ratio of all shapes with 32 connections, and the highest of the p99: ${lowest.join(', ')}.`,
    ...shapes.flatMap((shape) => shape.connections.map((result) => table(shape, result))),
  ].join('\n\n');
}

/** A table for each shape with many connections, and one for a single connection. */
export function graphqlTables({ shapes }: GraphqlReport): string {
  const single = shapes.flatMap(({ title, connections }) =>
    connections
      .filter((result) => result.connections === 1)
      .map(({ ratios, p99Ratios }) => [
        title,
        ...peerNames.map((peer) => times(ratios[peer])),
        ...peerNames.map((peer) => times(p99Ratios[peer])),
      ]),
  );
  return [
    ...shapes.flatMap((shape) =>
      shape.connections.filter((result) => result.connections > 1).map((result) => table(shape, result)),
    ),
    markdownTable([['ours, 1 connection', ...peerNames, ...peerNames.map((peer) => `p99: ${peer}`)], ...single]),
  ].join('\n\n');
}

function table(shape: ShapeResult, { connections, results, ratios, p99Ratios }: ConnectionsResult): string {
  const heading = `${shape.title}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
  return markdownTable([
    [heading, 'per second', 'ours', 'p50', 'p99', 'our p99', 'CPU per request', 'memory'],
    ...results.map(({ name, requestsPerSecond, p50Ms, p99Ms, cpuMicroseconds, residentBytes }) => [
      name,
      wholeNumber(requestsPerSecond),
      name in ratios ? times(ratios[name]) : '',
      `${p50Ms.toFixed(2)} ms`,
      `${p99Ms.toFixed(2)} ms`,
      name in ratios ? times(p99Ratios[name]) : '',
      `${cpuMicroseconds.toFixed(0)} µs`,
      `${Math.round(residentBytes / 1024 / 1024)} MiB`,
    ]),
  ]);
}
