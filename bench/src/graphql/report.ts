import { markdownTable } from '../markdown-table.ts';
import { introduction, type Machine } from '../report.ts';
import { peerNames } from './peer-names.ts';
import { type ConnectionsResult, connectionCounts, type Ratios } from './rounds.ts';

/** What `pnpm bench graphql --json` prints. */
export interface GraphqlReport {
  bench: 'graphql';
  /** True for a short run that only shows that the bench works. */
  quick: boolean;
  machine: Machine;
  rounds: number;
  roundMs: number;
  warmUpMs: number;
  /** Our requests per second divided by those of each peer, with 32 connections: the lowest of all shapes. */
  ratios: Ratios;
  /** Our p99 divided by that of each peer, with 32 connections: the highest of all shapes. */
  p99Ratios: Ratios;
  shapes: ShapeResult[];
}

export interface ShapeResult {
  name: string;
  title: string;
  connections: ConnectionsResult[];
}

/** Formats the report as Markdown tables. */
export function graphqlMarkdown({
  quick,
  machine,
  rounds,
  roundMs,
  ratios,
  p99Ratios,
  shapes: measured,
}: GraphqlReport): string {
  const title = `graphql: ${rounds} interleaved rounds of ${roundMs} ms, medians. "ours" divides our requests per second by those of the row in the same round; "our p99" divides our p99 by that of the row.`;
  const lowest = peerNames.map((peer) => `${peer} ${ratios[peer].toFixed(2)} × (p99 ${p99Ratios[peer].toFixed(2)} ×)`);
  return [
    introduction(title, quick, machine),
    `The lowest ratio of all shapes with ${connectionCounts[0]} connections, and the highest of the p99: ${lowest.join(', ')}.`,
    ...measured.flatMap((shape) => shape.connections.map((result) => table(shape, result))),
  ].join('\n\n');
}

/** A table for each shape with many connections, and one for a single connection. */
export function graphqlTables({ shapes }: GraphqlReport): string {
  const single = shapes.flatMap(({ title, connections }) =>
    connections
      .filter((result) => result.connections === 1)
      .map(({ ratios, p99Ratios }) => [
        title,
        ...peerNames.map((peer) => `${ratios[peer].toFixed(2)} ×`),
        ...peerNames.map((peer) => `${p99Ratios[peer].toFixed(2)} ×`),
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
      Math.round(requestsPerSecond).toLocaleString('en-US'),
      name === 'deedwire' ? '' : `${ratios[name].toFixed(2)} ×`,
      `${p50Ms.toFixed(2)} ms`,
      `${p99Ms.toFixed(2)} ms`,
      name === 'deedwire' ? '' : `${p99Ratios[name].toFixed(2)} ×`,
      `${cpuMicroseconds.toFixed(0)} µs`,
      `${Math.round(residentBytes / 1024 / 1024)} MiB`,
    ]),
  ]);
}
