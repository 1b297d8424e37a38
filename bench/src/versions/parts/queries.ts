import type { BenchOptions } from '../../bench.ts';
import { ours } from '../../delivery/workloads.ts';
import { startOurs } from '../../graphql/contestant.ts';
import { withWorld } from '../../graphql/load.ts';
import { measureContestants, ratioResults, ratioTable } from '../../graphql/rounds.ts';
import { shapes } from '../../graphql/shapes.ts';
import { readCheckout } from '../checkout.ts';

type QueriesResult = Awaited<ReturnType<typeof measureQueries>>;

export function measureQueries({ quick, values, progress }: BenchOptions) {
  const { name: other, folder } = readCheckout(values['beside']);
  const plan = quick ? { rounds: 2, roundMs: 50, warmUpMs: 50 } : { rounds: 15, roundMs: 700, warmUpMs: 3_000 };
  return withWorld(quick ? 2 : Infinity, async (world, load, defer) => {
    const results = [];
    for (const interfaceName of ['lender', 'partner'] as const) {
      const contestants = [
        await startOurs(world, interfaceName, { name: other, built: false, checkout: folder }, defer),
        await startOurs(world, interfaceName, { name: ours, built: false }, defer),
      ];
      for (const shape of shapes.filter((each) => each.interfaceName === interfaceName)) {
        const report = (line: string): void => progress(`${shape.name}: ${line}`);
        const measured = await measureContestants(shape, contestants, world, load, plan, report);
        results.push({ title: shape.title, results: ratioResults(measured) });
      }
    }
    return { rounds: plan.rounds, shapes: results };
  });
}

export function queriesMarkdown({ rounds, shapes: each }: QueriesResult): string {
  return [
    `Medians of ${rounds} interleaved rounds. The ratio of the rates is the geometric mean, with the interval of 95 %.`,
    ...each.map(({ title, results }) => ratioTable(title, results)),
  ].join('\n\n');
}
