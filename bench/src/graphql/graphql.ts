import type { Bench } from '../bench.ts';
import { describeMachine } from '../report.ts';
import { withCleanup } from '../with-cleanup.ts';
import { buildApps, startOurs, startPeers } from './contestant.ts';
import { withWorld } from './load.ts';
import { byPeer } from './peer-names.ts';
import { type GraphqlReport, graphqlMarkdown, type ShapeResult } from './report.ts';
import { connectionCounts, connectionsResult, type GraphqlPlan, measureContestants } from './rounds.ts';
import { type Shape, shapes } from './shapes.ts';

const full: GraphqlPlan = { rounds: 5, roundMs: 700, warmUpMs: 3000 };
const short: GraphqlPlan = { rounds: 2, roundMs: 50, warmUpMs: 50 };

export const graphql: Bench = {
  name: 'graphql',
  summary:
    'queries to our two apps against Mercurius, with JIT, without, and behind the work of our apps, and Apollo Server',
  parts: Object.fromEntries(shapes.map(({ name, title }) => [name, title])),

  async run({ quick, only, progress }) {
    const plan = quick ? short : full;
    const selected = shapes.filter(({ name }) => only === undefined || only === name);
    const measured = await measure(selected, plan, quick, progress);
    const withMost = measured.flatMap(({ connections }) =>
      connections.filter((result) => result.connections === connectionCounts[0]),
    );
    const chosen = (of: 'ratios' | 'p99Ratios', choose: (...values: number[]) => number) =>
      byPeer((peer) => choose(...withMost.map(({ [of]: ratios }) => ratios[peer] ?? Number.NaN)));
    const report: GraphqlReport = {
      bench: 'graphql',
      quick,
      machine: describeMachine(),
      ...plan,
      ratios: chosen('ratios', Math.min),
      p99Ratios: chosen('p99Ratios', Math.max),
      shapes: measured,
    };
    return { json: report, markdown: graphqlMarkdown(report) };
  },
};

async function measure(
  selected: readonly Shape[],
  plan: GraphqlPlan,
  quick: boolean,
  progress: (line: string) => void,
): Promise<ShapeResult[]> {
  if (!quick) {
    progress('Building the apps');
    await buildApps(['lender-api', 'partner-api']);
  }
  return withWorld(quick ? 2 : Infinity, async (world, load) => {
    const results: ShapeResult[] = [];
    for (const interfaceName of ['lender', 'partner'] as const) {
      const ofInterface = selected.filter((shape) => shape.interfaceName === interfaceName);
      if (ofInterface.length === 0) continue;
      await withCleanup(async (defer) => {
        progress(`Starting the servers of the ${interfaceName} interface`);
        const ours = await startOurs(world, interfaceName, { name: 'deedwire', built: !quick }, defer);
        const contestants = [ours, ...(await startPeers(world, defer))];
        for (const shape of ofInterface) {
          const { name, title } = shape;
          const report = (line: string): void => progress(`${name}: ${line}`);
          const measured = await measureContestants(shape, contestants, load, plan, report);
          const connections = Array.from(measured, ([count, rounds]) => connectionsResult(count, rounds));
          results.push({ name, title, connections });
        }
      });
    }
    return results;
  });
}
