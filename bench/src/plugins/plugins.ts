import type { Bench } from '../bench.ts';
import { buildApps, startOurs } from '../graphql/contestant.ts';
import { withWorld } from '../graphql/load.ts';
import { measureContestants, ratioResults, ratioTable } from '../graphql/rounds.ts';
import { shapes } from '../graphql/shapes.ts';
import { describeMachine, introduction } from '../report.ts';
import type { PluginListName } from './add-plugins.ts';

/** By contestant. The app as shipped runs twice: the ratio of these two shows by how much equal processes differ. */
const lists: Readonly<Record<string, PluginListName | null>> = {
  'as-shipped': null,
  'as-shipped-again': null,
  'no-hooks': 'no-hooks',
  'every-hook': 'every-hook',
};

const full = { rounds: 15, roundMs: 300, warmUpMs: 3_000 };
const short = { rounds: 2, roundMs: 50, warmUpMs: 50 };

export const plugins: Bench = {
  name: 'plugins',
  summary: 'one scalar of the lender from our app without plugins, with plugins without hooks, and with every hook',

  async run({ quick, progress }) {
    const plan = quick ? short : full;
    const { rounds, roundMs } = plan;
    const shape = shapes.find(({ name }) => name === 'scalar');
    if (shape === undefined) throw new Error('There is no shape for one scalar.');
    if (!quick) await buildApps(['lender-api']);
    const results = await withWorld(quick ? 2 : 32, async (world, load, defer) => {
      const contestants = [];
      for (const [name, list] of Object.entries(lists)) {
        const options = { name, built: !quick, env: environmentOf(list, !quick) };
        contestants.push(await startOurs(world, 'lender', options, defer));
      }
      return ratioResults(await measureContestants(shape, contestants, world, load, plan, progress));
    });
    const report = { bench: 'plugins', quick, machine: describeMachine(), rounds, roundMs, results };
    const title = `plugins: ${rounds} interleaved rounds of ${roundMs} ms. The ratio to the app as shipped is the geometric mean, with the interval of 95 %.`;
    return { json: report, markdown: [introduction(title, report), ratioTable('plugins', results)].join('\n\n') };
  },
};

function environmentOf(list: PluginListName | null, built: boolean): Record<string, string> {
  if (list === null) return {};
  const interfaceFile = `../../../apps/lender-api/${built ? 'dist/lender-interface.js' : 'src/lender-interface.ts'}`;
  return {
    BENCH_PLUGINS: list,
    BENCH_INTERFACE: new URL(interfaceFile, import.meta.url).href,
    NODE_OPTIONS: `--import=${new URL('add-plugins.ts', import.meta.url).href}`,
  };
}
