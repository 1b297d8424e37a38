import { setTimeout as sleep } from 'node:timers/promises';
import { type AccountId, idAt, toRecordId } from '@deedwire/domain';
import { onlyRow, type Store } from '@deedwire/store';
import {
  findFirstNumbered,
  type PullPosition,
  readNumberedPage,
  selectEventBodies,
  selectPulledSubscription,
} from '@deedwire/webhooks/pull';
import { createBenchStore } from '../../bench-store.ts';
import type { LatencySummary } from '../../delivery/latency-summary.ts';
import { measureLatencies } from '../../delivery/measure-latency.ts';
import { fillHistory } from '../../delivery/ours/fill-history.ts';
import type { Part } from '../../delivery/part.ts';
import { withStack } from '../../delivery/stack.ts';
import { median } from '../../median.ts';
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
      : { rounds: 5, events: 400, stored: 200_000 };
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
      let pages = 0;
      for (let round = 1; round <= rounds; round += 1) {
        const alone = await measure(events);
        const reader = startReader(store, account);
        const beside = await measure(events);
        pages += await reader.stop();
        measured.push({ alone, beside });
        progress(`Round ${round} of ${rounds}`);
      }
      if (pages === 0) throw new Error('No page was read.');
      const summaries = ['of the account', 'of another account'].map((name, index) => {
        const medianOf = (kind: 'alone' | 'beside', key: 'p50Ms' | 'p99Ms' | 'maxMs'): number =>
          median(measured.map((round) => round[kind][index]?.[key] ?? Number.NaN));
        const summary = (kind: 'alone' | 'beside'): LatencySummary => ({
          events,
          p50Ms: medianOf(kind, 'p50Ms'),
          p99Ms: medianOf(kind, 'p99Ms'),
          maxMs: medianOf(kind, 'maxMs'),
        });
        const p99Ratio = median(
          measured.map(
            ({ alone, beside }) => (beside[index]?.p99Ms ?? Number.NaN) / (alone[index]?.p99Ms ?? Number.NaN),
          ),
        );
        return { name, alone: summary('alone'), beside: summary('beside'), p99Ratio };
      });
      return { rounds, stored, pagesPerSecond, summaries };
    });
  },

  markdown: besidePullMarkdown,
};

/** Reads the history of an account again and again, at a steady rate. */
function startReader(store: Store, account: AccountId): { stop: () => Promise<number> } {
  let isStopped = false;
  let pages = 0;
  const reading = (async () => {
    const text = 'select id from webhook_subscription where account_id = $1';
    const { id } = onlyRow(await store.query<{ id: string }>({ name: 'bench-subscription-of', text }, [account]));
    let position: PullPosition | null = null;
    while (!isStopped) {
      const startMs = performance.now();
      const subscription = await selectPulledSubscription(store, account, toRecordId(id), 'PUSH');
      if (subscription === null) throw new Error('There is no subscription.');
      // Pages read no delivery that is more than a day older than its subscription.
      const fromId = BigInt(idAt(new Date(subscription.now.getTime() - 20 * 3_600_000)));
      const first = position === null ? await findFirstNumbered(store, subscription, fromId) : null;
      const start: PullPosition = position ?? { sequence: (first?.sequence ?? 1) - 1, fromId };
      const { rows } = await readNumberedPage(store, subscription, start, 100);
      await selectEventBodies(store, rows, subscription.expiredBefore);
      pages += 1;
      const last = rows.at(-1);
      position = rows.length < 100 || last === undefined ? null : { sequence: last.sequence, fromId: BigInt(last.id) };
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
