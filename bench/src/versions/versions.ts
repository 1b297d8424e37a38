import type { Bench } from '../bench.ts';
import { runnable, type RunnablePart, runParts, summaries } from '../delivery/part.ts';
import { describeMachine, introduction } from '../report.ts';
import { deliveries } from './parts/deliveries.ts';
import { idle } from './parts/idle.ts';
import { queries } from './parts/queries.ts';
import { write } from './parts/write.ts';

// In the order in which they run.
const parts: Readonly<Record<string, RunnablePart>> = {
  deliveries: runnable(deliveries),
  write: runnable(write),
  idle: runnable(idle),
  queries: runnable(queries),
};

export const versions: Bench = {
  name: 'versions',
  summary: 'our apps beside those of another checkout, each on a database of its own with the migrations of this one',
  parts: summaries(parts),
  perRound: 'deliveries per round of deliveries; the default is 16,000, or 200 with --quick',
  options: {
    beside: { value: 'folder', summary: 'the other checkout, which is installed' },
    migration: {
      value: 'number',
      summary: 'of write: the last migration of its database; the default is the last of all',
    },
  },

  async run(options) {
    const machine = describeMachine();
    const results = await runParts(parts, options);
    const start = introduction('versions: PostgreSQL with fsync, one machine.', options.quick, machine);
    return {
      json: {
        bench: 'versions',
        quick: options.quick,
        machine,
        ...Object.fromEntries(results.map(({ name, json }) => [name, json])),
      },
      markdown: [start, ...results.map(({ markdown }) => markdown)].join('\n\n'),
    };
  },
};
