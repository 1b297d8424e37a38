import { run, workspaceRoot } from '@deedwire/checks';
import type { Bench } from '../bench.ts';
import { startChild } from '../child.ts';
import { markdownTable } from '../markdown-table.ts';
import { startBenchPostgres } from '../postgres.ts';
import { describeMachine, introduction, type Machine } from '../report.ts';
import { withCleanup } from '../with-cleanup.ts';
import { startContestants } from './contestant.ts';
import type { LoadRequest, LoadResult } from './load-protocol.ts';
import { peerNames } from './peers/index.ts';
import { type ConnectionsResult, connectionCounts, type GraphqlPlan, measureShape, type Ratios } from './rounds.ts';
import { type Shape, shapes } from './shapes.ts';
import { createWorld } from './world.ts';

/** What `pnpm bench graphql --json` prints. */
export interface GraphqlReport {
  bench: 'graphql';
  /** True for a short run. */
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

interface ShapeResult {
  name: string;
  title: string;
  connections: ConnectionsResult[];
}

const full: GraphqlPlan = { rounds: 5, roundMs: 1500, warmUpMs: 10_000 };
const short: GraphqlPlan = { rounds: 5, roundMs: 250, warmUpMs: 1500 };

export const graphql: Bench = {
  name: 'graphql',
  summary: 'queries to our two apps against Mercurius, with and without JIT, and Apollo Server',
  parts: Object.fromEntries(shapes.map(({ name, title }) => [name, title])),
  perRound: null,

  async run({ quick, only, progress }) {
    const plan = quick ? short : full;
    const measured = await measure(
      shapes.filter(({ name }) => only === undefined || only === name),
      plan,
      progress,
    );
    const report: GraphqlReport = {
      bench: 'graphql',
      quick,
      machine: describeMachine(),
      ...plan,
      ratios: overShapes(measured, ({ ratios }) => ratios, Math.min),
      p99Ratios: overShapes(measured, ({ p99Ratios }) => p99Ratios, Math.max),
      shapes: measured,
    };
    return { json: report, markdown: markdown(report) };
  },
};

async function measure(
  selected: readonly Shape[],
  plan: GraphqlPlan,
  progress: (line: string) => void,
): Promise<ShapeResult[]> {
  return withCleanup(async (defer) => {
    progress('Building the apps');
    await build();
    progress('Starting PostgreSQL');
    const postgres = await startBenchPostgres();
    defer(() => postgres.close());
    const world = await createWorld(await postgres.createDatabase('bench'));
    const { child: load } = await startChild<LoadRequest, LoadResult>('./graphql/load-process.ts');
    defer(() => load.close());

    const results: ShapeResult[] = [];
    for (const interfaceName of ['lender', 'partner'] as const) {
      const ofInterface = selected.filter((shape) => shape.interfaceName === interfaceName);
      if (ofInterface.length === 0) continue;
      await withCleanup(async (deferUntilNext) => {
        progress(`Starting the servers of the ${interfaceName} interface`);
        const contestants = await startContestants(world, interfaceName, true, deferUntilNext);
        for (const shape of ofInterface) {
          const { name, title } = shape;
          const connections = await measureShape(
            shape,
            contestants,
            world.callers.get(name) ?? [],
            load,
            plan,
            (line) => progress(`${name}: ${line}`),
          );
          results.push({ name, title, connections });
        }
      });
    }
    return results;
  });
}

async function build(): Promise<void> {
  const filters = ['lender-api', 'partner-api'].map((app) => `--filter=@deedwire/${app}`);
  const { succeeded, output } = await run(
    'turbo',
    ['run', 'build', ...filters, '--output-logs=errors-only'],
    workspaceRoot,
  );
  if (!succeeded) throw new Error(`The apps do not build:\n${output}`);
}

function overShapes(
  measured: readonly ShapeResult[],
  ratiosOf: (result: ConnectionsResult) => Ratios,
  choose: (...values: number[]) => number,
): Ratios {
  const withMost = measured.flatMap(({ connections }) =>
    connections.filter((result) => result.connections === connectionCounts[0]).map(ratiosOf),
  );
  const chosen = (peer: keyof Ratios) => choose(...withMost.map((ratios) => ratios[peer]));
  return { 'mercurius-jit': chosen('mercurius-jit'), mercurius: chosen('mercurius'), apollo: chosen('apollo') };
}

/** Formats the report as Markdown tables. */
function markdown({ quick, machine, rounds, roundMs, ratios, p99Ratios, shapes: measured }: GraphqlReport): string {
  const title = `graphql: ${rounds} interleaved rounds of ${roundMs} ms, medians. "ours" divides our requests per second by those of the row in the same round; "our p99" divides our p99 by that of the row.`;
  const lowest = peerNames.map((peer) => `${peer} ${ratios[peer].toFixed(2)} × (p99 ${p99Ratios[peer].toFixed(2)} ×)`);
  return [
    introduction(title, quick, machine),
    `The lowest ratio of all shapes with ${connectionCounts[0]} connections, and the highest of the p99: ${lowest.join(', ')}.`,
    ...measured.flatMap((shape) => shape.connections.map((result) => table(shape, result))),
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
