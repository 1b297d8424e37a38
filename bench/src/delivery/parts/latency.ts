import { drainOnce } from '../drain-once.ts';
import { measureLatency } from '../measure-latency.ts';
import { paced } from '../paced.ts';
import type { Part } from '../part.ts';
import { latencyMarkdown, type LatencyResult } from '../report.ts';
import { withStack } from '../stack.ts';

const perSecond = 20;
const loadAccounts = 4;
const subscriptionsPerAccount = 20;

export const latency: Part<LatencyResult> = {
  summary: 'from commit to the first byte of the request: idle, and at half of the maximum rate',

  async run({ quick, perRound = quick ? 200 : 8_000, progress }) {
    const events = quick ? 20 : 300;
    return withStack({ receivers: loadAccounts * subscriptionsPerAccount + 1 }, async (stack) => {
      const { system, receiver } = stack;
      const [probeOrigin, ...origins] = receiver.origins;
      const [probe] = await system.addAccounts([[`${probeOrigin ?? ''}/probe`]]);
      const urls = origins.map((origin) => `${origin}/hooks`);
      const load = await system.addAccounts(
        Array.from({ length: loadAccounts }, (_, account) =>
          urls.slice(account * subscriptionsPerAccount, (account + 1) * subscriptionsPerAccount),
        ),
      );
      if (probe === undefined) throw new Error('There is no account to measure.');
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
      const loading = paced(
        Number.POSITIVE_INFINITY,
        deliveriesPerSecond / subscriptionsPerAccount,
        async (index) => {
          const account = load[index % load.length];
          if (account !== undefined) await system.commitEvent(account, `load-${index}`);
        },
        end.signal,
      );
      try {
        const atHalfLoad = await measureLatency(stack, probe, { events, perSecond });
        return { idle, halfLoad: { ...atHalfLoad, deliveriesPerSecond } };
      } finally {
        end.abort();
        await loading;
      }
    });
  },

  markdown: latencyMarkdown,
};
