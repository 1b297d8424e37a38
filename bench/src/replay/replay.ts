import type { Bench } from '../bench.ts';
import { runnable, type RunnablePart, runParts, summaries } from '../delivery/part.ts';
import { describeMachine, introduction } from '../report.ts';
import { besidePull } from './parts/beside-pull.ts';
import { beside } from './parts/beside.ts';
import { growth } from './parts/growth.ts';
import { pull } from './parts/pull.ts';
import { rate } from './parts/rate.ts';

// In the order in which they run.
const parts: Readonly<Record<string, RunnablePart>> = {
  rate: runnable(rate),
  beside: runnable(beside),
  growth: runnable(growth),
  pull: runnable(pull),
  'beside-pull': runnable(besidePull),
};

export const replay: Bench = {
  name: 'replay',
  summary: 'replays of the webhook engine: their rate, and what they cost new events; and pages of events',
  parts: summaries(parts),
  perRound: null,
  options: null,
  stored:
    'deliveries of the larger history of growth and pull; the default is 1,000,000, which takes half a minute to store',

  async run(options) {
    const machine = describeMachine();
    const results = await runParts(parts, options);
    const introductionOf = introduction('replay: PostgreSQL with fsync, one machine.', options.quick, machine);
    return {
      json: {
        bench: 'replay',
        quick: options.quick,
        machine,
        ...Object.fromEntries(results.map(({ name, json }) => [name, json])),
      },
      markdown: [introductionOf, ...results.map(({ markdown }) => markdown)].join('\n\n'),
    };
  },
};
