import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { ours } from '../../delivery/workloads.ts';
import { intervalCells, type MeanRatio, meanRatio } from '../../geometric-mean.ts';
import { startOurs } from '../../graphql/contestant.ts';
import { withWorld } from '../../graphql/load.ts';
import { measureContestants } from '../../graphql/rounds.ts';
import { shapes } from '../../graphql/shapes.ts';
import { markdownTable, wholeNumber } from '../../report.ts';
import { perSecond, rateRatios } from '../../rounds.ts';
import { readCheckout } from '../checkout.ts';

export interface VersionsQueriesResult {
  other: string;
  rounds: number;
  shapes: { title: string; connections: number; ours: number; other: number; rateRatio: MeanRatio }[];
}

export function measureQueries({ quick, values, progress }: BenchOptions): Promise<VersionsQueriesResult> {
  const { name: other, folder } = readCheckout(values['beside']);
  const plan = quick ? { rounds: 2, roundMs: 50, warmUpMs: 50 } : { rounds: 15, roundMs: 700, warmUpMs: 3_000 };
  return withWorld(quick ? 2 : Infinity, async (world, load, defer) => {
    const results: VersionsQueriesResult['shapes'] = [];
    for (const interfaceName of ['lender', 'partner'] as const) {
      const contestants = [
        await startOurs(world, interfaceName, { name: ours, built: false }, defer),
        await startOurs(world, interfaceName, { name: other, built: false, checkout: folder }, defer),
      ];
      for (const shape of shapes.filter((each) => each.interfaceName === interfaceName)) {
        const report = (line: string): void => progress(`${shape.name}: ${line}`);
        const measured = await measureContestants(shape, contestants, world, load, plan, report);
        for (const [connections, rounds] of measured) {
          const [own = [], beside = []] = rounds.values();
          results.push({
            title: shape.title,
            connections,
            ours: median(own.map(perSecond)),
            other: median(beside.map(perSecond)),
            rateRatio: meanRatio(rateRatios(own, beside)),
          });
        }
      }
    }
    return { other, rounds: plan.rounds, shapes: results };
  });
}

export function queriesMarkdown({ other, rounds, shapes: each }: VersionsQueriesResult): string {
  return [
    `Requests per second: medians of ${rounds} interleaved rounds. The ratio is the geometric mean, with the interval of 95 %.`,
    markdownTable([
      ['query', 'connections', ours, other, 'ratio', 'from', 'to'],
      ...each.map((result) => [
        result.title,
        String(result.connections),
        wholeNumber(result.ours),
        wholeNumber(result.other),
        ...intervalCells(result.rateRatio),
      ]),
    ]),
  ].join('\n\n');
}
