import type { Bench } from '../bench.ts';
import { startChild } from '../child.ts';
import { startBenchPostgres } from '../postgres.ts';
import { describeMachine } from '../report.ts';
import { withCleanup } from '../with-cleanup.ts';
import { startContestants } from './contestant.ts';
import type { LoadRequest, LoadResult } from './load-protocol.ts';
import { buildApps } from './our-app.ts';
import { type GraphqlReport, graphqlMarkdown, type ShapeResult } from './report.ts';
import { type ConnectionsResult, connectionCounts, type GraphqlPlan, measureShape, type Ratios } from './rounds.ts';
import { type Shape, shapes } from './shapes.ts';
import { createWorld } from './world.ts';

const full: GraphqlPlan = { rounds: 5, roundMs: 700, warmUpMs: 3000 };
const short: GraphqlPlan = { rounds: 2, roundMs: 50, warmUpMs: 50 };

export const graphql: Bench = {
  name: 'graphql',
  summary:
    'queries to our two apps against Mercurius, with JIT, without, and behind the work of our apps, and Apollo Server',
  parts: Object.fromEntries(shapes.map(({ name, title }) => [name, title])),
  perRound: null,
  options: null,

  async run({ quick, only, progress }) {
    const plan = quick ? short : full;
    const measured = await measure(
      shapes.filter(({ name }) => only === undefined || only === name),
      { plan, built: !quick, accountsMax: quick ? 2 : Number.POSITIVE_INFINITY },
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
    return { json: report, markdown: graphqlMarkdown(report) };
  },
};

async function measure(
  selected: readonly Shape[],
  { plan, built, accountsMax }: { plan: GraphqlPlan; built: boolean; accountsMax: number },
  progress: (line: string) => void,
): Promise<ShapeResult[]> {
  return withCleanup(async (defer) => {
    if (built) {
      progress('Building the apps');
      await buildApps(['lender-api', 'partner-api']);
    }
    progress('Starting PostgreSQL');
    const postgres = await startBenchPostgres();
    defer(() => postgres.close());
    const world = await createWorld(await postgres.createDatabase('bench'), accountsMax);
    const { child: load } = await startChild<LoadRequest, LoadResult>('./graphql/load-process.ts');
    defer(() => load.close());

    const results: ShapeResult[] = [];
    for (const interfaceName of ['lender', 'partner'] as const) {
      const ofInterface = selected.filter((shape) => shape.interfaceName === interfaceName);
      if (ofInterface.length === 0) continue;
      await withCleanup(async (deferUntilNext) => {
        progress(`Starting the servers of the ${interfaceName} interface`);
        const contestants = await startContestants(world, interfaceName, built, deferUntilNext);
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

function overShapes(
  measured: readonly ShapeResult[],
  ratiosOf: (result: ConnectionsResult) => Ratios,
  choose: (...values: number[]) => number,
): Ratios {
  const withMost = measured.flatMap(({ connections }) =>
    connections.filter((result) => result.connections === connectionCounts[0]).map(ratiosOf),
  );
  const chosen = (peer: keyof Ratios) => choose(...withMost.map((ratios) => ratios[peer]));
  return {
    'mercurius-jit': chosen('mercurius-jit'),
    'mercurius-guarded': chosen('mercurius-guarded'),
    mercurius: chosen('mercurius'),
    apollo: chosen('apollo'),
  };
}
