import { measureLatency } from '../measure-latency.ts';
import type { Part } from '../part.ts';
import { startReceiverChild } from '../receiver-child.ts';
import { hangingMarkdown, type HangingResult } from '../report.ts';
import { withStack } from '../stack.ts';

const perSecond = 20;
const subscriptionsPerAccount = 20;
const eventsPerAccount = 20;

export const hanging: Part<HangingResult> = {
  summary: 'the latency of an account beside 1,000 endpoints of other accounts that never respond',

  async run({ quick, progress }) {
    const accounts = quick ? 5 : 50;
    // The connections of all endpoints open in the first second, and the breakers open after half of the minute that follows.
    const startEvents = quick ? 10 : perSecond;
    const events = quick ? 20 : 1_200;
    const endpoints = accounts * subscriptionsPerAccount;
    return withStack({ receivers: 1 }, async (stack, defer) => {
      const { system, receiver } = stack;
      // In their own process: the measured receiver must not wait for the connections of the others to be accepted.
      const others = await startReceiverChild(endpoints);
      defer(() => others.close());
      const [probe] = await system.addAccounts([[`${receiver.origins[0] ?? ''}/probe`]]);
      const urls = others.origins.map((origin) => `${origin}/hang`);
      const otherAccounts = await system.addAccounts(
        Array.from({ length: accounts }, (_, account) =>
          urls.slice(account * subscriptionsPerAccount, (account + 1) * subscriptionsPerAccount),
        ),
      );
      if (probe === undefined) throw new Error('There is no account to measure.');
      await system.startWorker();
      await measureLatency(stack, probe, { events: quick ? 5 : 100, perSecond });
      progress(`Alone: ${perSecond} events per second`);
      const alone = await measureLatency(stack, probe, { events: quick ? events : 400, perSecond });
      const held = await system.holdEvents(otherAccounts, accounts * eventsPerAccount);
      const waiting = endpoints * eventsPerAccount;
      progress(`Beside ${endpoints} endpoints that hang, with ${waiting} deliveries waiting`);
      await held.release();
      const start = await measureLatency(stack, probe, { events: startEvents, perSecond });
      const beside = await measureLatency(stack, probe, { events, perSecond });
      return { alone, start, beside, p99Ratio: beside.p99Ms / alone.p99Ms, endpoints, waiting };
    });
  },

  markdown: hangingMarkdown,
};
