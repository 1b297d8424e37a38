import { drainOnce } from '../drain-once.ts';
import type { Part } from '../part.ts';
import { accountMarkdown, type AccountResult } from '../report.ts';
import { withStack } from '../stack.ts';

const subscriptions = 20;
const responseMs = 100;
// The default WORKER_CONCURRENCY.
const slots = 2000;
// The first request of each subscription, and a sixteenth of the slots for all others.
const inFlight = subscriptions + slots / 16;

export const account: Part<AccountResult> = {
  summary: `the maximum rate of one account whose ${subscriptions} receivers respond after ${responseMs} ms`,

  async run({ quick, perRound = quick ? 200 : 8_000, progress }) {
    return withStack({ receivers: subscriptions }, async (stack) => {
      const { system, receiver } = stack;
      const accounts = await system.addAccounts([receiver.origins.map((origin) => `${origin}/slow/${responseMs}`)]);
      await system.startWorker();
      progress('Warm-up');
      await drainOnce(stack, accounts, perRound / 4 / subscriptions, subscriptions);
      progress(`${perRound} deliveries`);
      const deliveriesPerSecond = await drainOnce(stack, accounts, perRound / subscriptions, subscriptions);
      return { subscriptions, responseMs, inFlight, deliveriesPerSecond, bound: (inFlight * 1000) / responseMs };
    });
  },

  markdown: accountMarkdown,
};
