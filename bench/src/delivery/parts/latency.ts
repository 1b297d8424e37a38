import type { BenchOptions } from '../../bench.ts';
import { measureLatency, paced } from '../latency.ts';
import { drainOnce, withStack } from '../stack.ts';
import { inGroups } from '../workloads.ts';

const perSecond = 20;
const loadAccounts = 4;
const subscriptionsPerAccount = 20;

export function measureIdleAndLoaded({ quick, perRound = quick ? 200 : 8_000, progress }: BenchOptions) {
  const events = quick ? 20 : 300;
  return withStack(loadAccounts * subscriptionsPerAccount + 1, async (stack) => {
    const { system, receiver } = stack;
    const [probeOrigin = '', ...origins] = receiver.origins;
    const probe = await system.addAccount([`${probeOrigin}/event/0`]);
    const urls = origins.map((origin) => `${origin}/hooks`);
    const load = await system.addAccounts(inGroups(urls, subscriptionsPerAccount));
    await system.startWorker();
    // Compiles the code and opens the connections.
    await measureLatency(stack, probe, { events: quick ? 5 : 100, perSecond });
    progress(`Idle: ${events} events, ${perSecond} per second`);
    const idle = await measureLatency(stack, probe, { events, perSecond });

    progress('Measuring the maximum rate');
    await drainOnce(stack, load, perRound / 4 / subscriptionsPerAccount, subscriptionsPerAccount);
    const maximum = await drainOnce(stack, load, perRound / subscriptionsPerAccount, subscriptionsPerAccount);
    const deliveriesPerSecond = maximum / 2;
    progress(`Half load: ${Math.round(deliveriesPerSecond)} deliveries per second beside them`);
    const end = new AbortController();
    const commit = async (index: number): Promise<void> => {
      const account = load[index % load.length];
      if (account !== undefined) await system.commitEvent(account, `load-${index}`);
    };
    const loading = paced(Infinity, deliveriesPerSecond / subscriptionsPerAccount, commit, end.signal);
    try {
      const halfLoad = { ...(await measureLatency(stack, probe, { events, perSecond })), deliveriesPerSecond };
      return { idle, halfLoad };
    } finally {
      end.abort();
      await loading;
    }
  });
}
