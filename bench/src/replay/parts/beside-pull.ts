import { setTimeout as sleep } from 'node:timers/promises';
import type { PullPosition } from '@deedwire/actions/webhooks';
import { median } from 'simple-statistics';
import { createBenchStore } from '../../bench-store.ts';
import { type LatencySummary, medianLatency } from '../../delivery/latency-summary.ts';
import { measureLatencies } from '../../delivery/measure-latency.ts';
import { fillHistory } from '../../delivery/ours/fill-history.ts';
import type { Part } from '../../delivery/part.ts';
import { withStack } from '../../delivery/stack.ts';
import { createPageReader, historyHours, type PageReader } from '../page-reader.ts';
import { besidePullMarkdown, type BesidePullResult } from '../report.ts';

/** New events of each account. */
const perSecond = 20;
/** A bucket of the default size allows two or fewer pages of 100 events per second. */
const pagesPerSecond = 20;

export const besidePull: Part<BesidePullResult> = {
  summary: 'the latency of new events beside pages of events, of the same account and of another one',

  async run({ quick, progress }) {
    const { rounds, events, stored } = quick
      ? { rounds: 1, events: 20, stored: 5_000 }
      : { rounds: 3, events: 400, stored: 200_000 };
    return withStack({ receivers: 2 }, async (stack, defer) => {
      const { system, receiver } = stack;
      const store = createBenchStore(system.databaseUrl);
      defer(() => store.close());
      const accounts = await system.addAccounts(receiver.origins.map((origin) => [`${origin}/probe`]));
      const [account] = accounts;
      if (account === undefined) throw new Error('There is no account.');
      await fillHistory(system.databaseUrl, stored, (count) => progress(`Stored ${count} of ${stored} deliveries`));
      await system.startWorker();
      const measure = async (count: number): Promise<readonly LatencySummary[]> =>
        measureLatencies(stack, accounts, { events: count, perSecond });
      // Compiles the code and opens the connections.
      await measure(quick ? 5 : 100);
      const measured: { alone: readonly LatencySummary[]; beside: readonly LatencySummary[] }[] = [];
      const pageReader = await createPageReader(store, account);
      let pages = 0;
      for (let round = 1; round <= rounds; round += 1) {
        const alone = await measure(events);
        const reader = startReading(pageReader);
        const beside = await measure(events);
        pages += await reader.stop();
        measured.push({ alone, beside });
        progress(`Round ${round} of ${rounds}`);
      }
      if (pages === 0) throw new Error('No page was read.');
      const summaries = ['of the account', 'of another account'].map((name, index) => {
        const ofAccount = measured.map(({ alone, beside }) => ({ alone: at(alone, index), beside: at(beside, index) }));
        return {
          name,
          alone: medianLatency(ofAccount.map(({ alone }) => alone)),
          beside: medianLatency(ofAccount.map(({ beside }) => beside)),
          p99Ratio: median(ofAccount.map(({ alone, beside }) => beside.p99Ms / alone.p99Ms)),
        };
      });
      return { rounds, stored, pagesPerSecond, summaries };
    });
  },

  markdown: besidePullMarkdown,
};

function at(latencies: readonly LatencySummary[], index: number): LatencySummary {
  const latency = latencies[index];
  if (latency === undefined) throw new Error('There is no latency.');
  return latency;
}

/** Reads the history again and again, at a steady rate. */
function startReading(reader: PageReader): { stop: () => Promise<number> } {
  let isStopped = false;
  let pages = 0;
  const reading = (async () => {
    let position: PullPosition | null = null;
    while (!isStopped) {
      const startMs = performance.now();
      position ??= (await reader.start(historyHours)).position;
      ({ next: position } = await reader.page(position));
      pages += 1;
      await sleep(Math.max(0, 1000 / pagesPerSecond - (performance.now() - startMs)));
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await reading;
      return pages;
    },
  };
}
