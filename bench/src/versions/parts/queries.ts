import { median } from 'simple-statistics';
import { startChild } from '../../child.ts';
import type { Part } from '../../delivery/part.ts';
import { ours } from '../../delivery/report.ts';
import { type MeanRatio, meanRatio } from '../../geometric-mean.ts';
import type { LoadRequest, LoadResult } from '../../graphql/load-protocol.ts';
import { startOurApp } from '../../graphql/our-app.ts';
import { measureContestants, perSecond } from '../../graphql/rounds.ts';
import { shapes } from '../../graphql/shapes.ts';
import { createWorld } from '../../graphql/world.ts';
import { markdownTable, wholeNumber } from '../../markdown-table.ts';
import { startBenchPostgres } from '../../postgres.ts';
import { withCleanup } from '../../with-cleanup.ts';
import { readCheckout } from '../checkout.ts';

export interface VersionsQueriesResult {
  other: string;
  rounds: number;
  shapes: { title: string; connections: number; ours: number; other: number; rateRatio: MeanRatio }[];
}

export const queries: Part<VersionsQueriesResult> = {
  summary: 'requests per second, with the queries of `graphql`',

  async run({ quick, values, progress }) {
    const { name: other, folder } = readCheckout(values['beside']);
    const plan = quick ? { rounds: 2, roundMs: 50, warmUpMs: 50 } : { rounds: 15, roundMs: 700, warmUpMs: 3_000 };
    return withCleanup(async (defer) => {
      const postgres = await startBenchPostgres();
      defer(() => postgres.close());
      const world = await createWorld(await postgres.createDatabase('bench'), quick ? 2 : Number.POSITIVE_INFINITY);
      const { child: load } = await startChild<LoadRequest, LoadResult>('./graphql/load-process.ts');
      defer(() => load.close());
      const { appDatabaseUrls, secretKeys } = world;
      const start = async (interfaceName: 'lender' | 'partner', name: string, checkout?: URL) => {
        const databaseUrl = appDatabaseUrls[interfaceName];
        const app = await startOurApp({ interfaceName, databaseUrl, secretKeys, built: false, checkout, defer });
        return { ...app, name, headersOf: ({ credentials }: { credentials: Record<string, string> }) => credentials };
      };
      const results: VersionsQueriesResult['shapes'] = [];
      for (const interfaceName of ['lender', 'partner'] as const) {
        const contestants = [await start(interfaceName, ours), await start(interfaceName, other, folder)];
        for (const shape of shapes.filter((each) => each.interfaceName === interfaceName)) {
          const callers = world.callers.get(shape.name) ?? [];
          const report = (line: string): void => progress(`${shape.name}: ${line}`);
          const measured = await measureContestants(shape, contestants, callers, load, plan, report);
          for (const [connections, rounds] of measured) {
            const [own, beside] = [ours, other].map((name) => (rounds.get(name) ?? []).map(perSecond));
            if (own === undefined || beside === undefined) continue;
            results.push({
              title: shape.title,
              connections,
              ours: median(own),
              other: median(beside),
              rateRatio: meanRatio(own.map((rate, round) => rate / (beside[round] ?? Number.NaN))),
            });
          }
        }
      }
      return { other, rounds: plan.rounds, shapes: results };
    });
  },

  markdown: ({ other, rounds, shapes: each }) =>
    [
      `Requests per second: medians of ${rounds} interleaved rounds. The ratio is the geometric mean, with the interval of 95 %.`,
      markdownTable([
        ['query', 'connections', ours, other, 'ratio', 'from', 'to'],
        ...each.map(({ title, connections, ours: own, other: beside, rateRatio: { mean, low, high } }) => [
          title,
          String(connections),
          wholeNumber(own),
          wholeNumber(beside),
          ...[mean, low, high].map((ratio) => `${ratio.toFixed(3)} ×`),
        ]),
      ]),
    ].join('\n\n'),
};
