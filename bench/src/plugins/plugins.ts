import { median } from 'simple-statistics';
import type { Bench } from '../bench.ts';
import { intervalCells, type MeanRatio, meanRatio } from '../geometric-mean.ts';
import { startOurs } from '../graphql/contestant.ts';
import { withWorld } from '../graphql/load.ts';
import { buildApps } from '../graphql/our-app.ts';
import { measureContestants } from '../graphql/rounds.ts';
import { shapes } from '../graphql/shapes.ts';
import { describeMachine, introduction, markdownTable, type ReportHead, wholeNumber } from '../report.ts';
import { cpuMicroseconds, perSecond, rateRatios } from '../rounds.ts';
import type { PluginListName } from './add-plugins.ts';

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

export interface PluginsReport extends ReportHead {
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

  async run({ quick, progress }) {
    const { rounds, roundMs } = quick ? short : full;
    const head = { bench: 'plugins', quick, machine: describeMachine(), rounds, roundMs };
    const report: PluginsReport = { ...head, results: await measure(quick, progress) };
    return { json: report, markdown: pluginsMarkdown(report) };
  },
};

async function measure(quick: boolean, progress: (line: string) => void): Promise<PluginsReport['results']> {
  const [built, plan] = quick ? [false, short] : [true, full];
  const shape = shapes.find(({ name }) => name === 'scalar');
  if (shape === undefined) throw new Error('There is no shape for one scalar.');
  if (built) await buildApps(['lender-api']);
  return withWorld(quick ? 2 : 32, async (world, load, defer) => {
    const contestants = [];
    for (const name of contestantNames) {
      const options = { name, built, env: environmentOf(lists[name], built) };
      contestants.push(await startOurs(world, 'lender', options, defer));
    }
    const measured = await measureContestants<Name>(shape, contestants, world, load, plan, progress);
    return Array.from(measured).flatMap(([connections, byName]) =>
      Array.from(byName, ([name, rounds]) => ({
        name,
        connections,
        perSecond: median(rounds.map(perSecond)),
        cpuMicroseconds: median(rounds.map(cpuMicroseconds)),
        rateRatio: meanRatio(rateRatios(rounds, byName.get('as-shipped') ?? [])),
      })),
    );
  });
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

function pluginsMarkdown(report: PluginsReport): string {
  const { rounds, roundMs, results } = report;
  const title = `plugins: ${rounds} interleaved rounds of ${roundMs} ms. The ratio to the app as shipped is the geometric mean, with the interval of 95 %.`;
  const rows = results.map((result) => [
    result.name,
    String(result.connections),
    wholeNumber(result.perSecond),
    `${result.cpuMicroseconds.toFixed(1)} µs`,
    ...intervalCells(result.rateRatio),
  ]);
  const header = ['plugins', 'connections', 'per second', 'CPU per request', 'ratio', 'from', 'to'];
  return [introduction(title, report), markdownTable([header, ...rows])].join('\n\n');
}
