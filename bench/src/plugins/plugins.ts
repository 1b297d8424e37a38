import { median } from 'simple-statistics';
import type { Bench } from '../bench.ts';
import { startChild } from '../child.ts';
import { type MeanRatio, meanRatio } from '../geometric-mean.ts';
import type { LoadRequest, LoadResult } from '../graphql/load-protocol.ts';
import { buildApps, startOurApp } from '../graphql/our-app.ts';
import { measureContestants, perSecond } from '../graphql/rounds.ts';
import { shapes } from '../graphql/shapes.ts';
import { type Caller, createWorld } from '../graphql/world.ts';
import { markdownTable, wholeNumber } from '../markdown-table.ts';
import { startBenchPostgres } from '../postgres.ts';
import { describeMachine, introduction, type Machine } from '../report.ts';
import { withCleanup } from '../with-cleanup.ts';
import type { PluginListName } from './plugin-lists.ts';

/** The app as shipped runs twice: the ratio of these two shows by how much equal processes differ. */
const contestantNames = ['as-shipped', 'as-shipped-again', 'no-hooks', 'every-hook'] as const;
type Name = (typeof contestantNames)[number];
const lists: Readonly<Record<Name, PluginListName | null>> = {
  'as-shipped': null,
  'as-shipped-again': null,
  'no-hooks': 'no-hooks',
  'every-hook': 'every-hook',
};

const full = { rounds: 15, roundMs: 300, warmUpMs: 3_000 };
const short = { rounds: 2, roundMs: 50, warmUpMs: 50 };

export interface PluginsReport {
  bench: 'plugins';
  /** True for a short run that only shows that the bench works. */
  quick: boolean;
  machine: Machine;
  rounds: number;
  roundMs: number;
  results: {
    name: Name;
    connections: number;
    perSecond: number;
    /** Of the server's process, per request: the median of the rounds. */
    cpuMicroseconds: number;
    /** Requests per second divided by those of the app as shipped in the same round. */
    rateRatio: MeanRatio;
  }[];
}

export const plugins: Bench = {
  name: 'plugins',
  summary: 'one scalar of the lender from our app without plugins, with plugins without hooks, and with every hook',
  parts: null,
  perRound: null,
  options: null,

  async run({ quick, progress }) {
    const plan = quick ? short : full;
    const report: PluginsReport = {
      bench: 'plugins',
      quick,
      machine: describeMachine(),
      rounds: plan.rounds,
      roundMs: plan.roundMs,
      results: await measure(plan, { built: !quick, accounts: quick ? 2 : 32 }, progress),
    };
    return { json: report, markdown: pluginsMarkdown(report) };
  },
};

function measure(
  plan: typeof full,
  { built, accounts }: { built: boolean; accounts: number },
  progress: (line: string) => void,
): Promise<PluginsReport['results']> {
  return withCleanup(async (defer) => {
    const shape = shapes.find(({ name }) => name === 'scalar');
    if (shape === undefined) throw new Error('There is no shape for one scalar.');
    if (built) await buildApps(['lender-api']);
    const postgres = await startBenchPostgres();
    defer(() => postgres.close());
    const world = await createWorld(await postgres.createDatabase('bench'), accounts);
    const { child: load } = await startChild<LoadRequest, LoadResult>('./graphql/load-process.ts');
    defer(() => load.close());
    const contestants = [];
    for (const name of contestantNames) {
      const app = await startOurApp({
        interfaceName: 'lender',
        databaseUrl: world.appDatabaseUrls.lender,
        secretKeys: world.secretKeys,
        built,
        env: environmentOf(lists[name], built),
        defer,
      });
      contestants.push({ ...app, name, headersOf });
    }
    const callers = world.callers.get(shape.name) ?? [];
    const measured = await measureContestants<Name>(shape, contestants, callers, load, plan, progress);
    return Array.from(measured).flatMap(([connections, byName]) => {
      const shipped = (byName.get('as-shipped') ?? []).map(perSecond);
      return Array.from(byName, ([name, rounds]) => ({
        name,
        connections,
        perSecond: median(rounds.map(perSecond)),
        cpuMicroseconds: median(rounds.map(({ cpuMs, requests }) => (cpuMs / requests) * 1000)),
        rateRatio: meanRatio(rounds.map((each, round) => perSecond(each) / (shipped[round] ?? Number.NaN))),
      }));
    });
  });
}

function headersOf({ credentials }: Caller): Record<string, string> {
  return credentials;
}

function environmentOf(list: PluginListName | null, built: boolean): Record<string, string> {
  if (list === null) return {};
  const interfaceFile = `../../../apps/lender-api/${built ? 'dist/lender-interface.js' : 'src/lender-interface.ts'}`;
  return {
    BENCH_PLUGINS: list,
    BENCH_INTERFACE: new URL(interfaceFile, import.meta.url).href,
    NODE_OPTIONS: `--import=${new URL('add-plugins.ts', import.meta.url).href}`,
  };
}

function pluginsMarkdown({ quick, machine, rounds, roundMs, results }: PluginsReport): string {
  const title = `plugins: ${rounds} interleaved rounds of ${roundMs} ms. The ratio to the app as shipped is the geometric mean, with the interval of 95 %.`;
  const rows = results.map(({ name, connections, perSecond: rate, cpuMicroseconds, rateRatio }) => [
    name,
    String(connections),
    wholeNumber(rate),
    `${cpuMicroseconds.toFixed(1)} µs`,
    ...[rateRatio.mean, rateRatio.low, rateRatio.high].map((ratio) => `${ratio.toFixed(3)} ×`),
  ]);
  const table = markdownTable([
    ['plugins', 'connections', 'per second', 'CPU per request', 'ratio', 'from', 'to'],
    ...rows,
  ]);
  return [introduction(title, quick, machine), table].join('\n\n');
}
