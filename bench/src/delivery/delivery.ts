import type { Bench } from '../bench.ts';
import { currentCommit } from '../commit.ts';
import { describeMachine, introduction } from '../report.ts';
import { runnable, type RunnablePart, runParts, summaries } from './part.ts';
import { account } from './parts/account.ts';
import { exchanges } from './parts/exchanges.ts';
import { fair } from './parts/fair.ts';
import { hanging } from './parts/hanging.ts';
import { history } from './parts/history.ts';
import { latency } from './parts/latency.ts';
import { memory } from './parts/memory.ts';
import { rates } from './parts/rates.ts';
import { statements } from './parts/statements.ts';
import { store } from './parts/store.ts';
import { workers } from './parts/workers.ts';
import { write } from './parts/write.ts';

// In the order in which they run.
const parts: Readonly<Record<string, RunnablePart>> = {
  rates: runnable(rates),
  latency: runnable(latency),
  statements: runnable(statements),
  history: runnable(history),
  hanging: runnable(hanging),
  workers: runnable(workers),
  store: runnable(store),
  account: runnable(account),
  write: runnable(write),
  fair: runnable(fair),
  memory: runnable(memory),
  exchanges: runnable(exchanges),
};

export const delivery: Bench = {
  name: 'delivery',
  summary: 'the webhook engine against queues that do the same sending',
  parts: summaries(parts),
  perRound: 'deliveries per round; the default is 8,000, or 200 with --quick',
  options: null,
  savesParts: true,

  async run(options) {
    const machine = describeMachine();
    const json: Record<string, unknown> = {};
    const [commit, commits]: [string, Record<string, string>] = [currentCommit(), {}];
    const sections = [introduction('delivery: PostgreSQL with fsync, one machine.', options.quick, machine)];
    for (const { name, json: result, markdown } of await runParts(parts, options)) {
      // The rates are what most readers want, so they are not nested.
      if (name === 'rates') Object.assign(json, result);
      else json[name] = result;
      commits[name] = commit;
      sections.push(markdown);
    }
    return {
      json: { ...json, bench: 'delivery', quick: options.quick, machine, commits },
      markdown: sections.join('\n\n'),
    };
  },
};
