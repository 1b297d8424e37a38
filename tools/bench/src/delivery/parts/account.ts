import { markdownTable } from '../../markdown-table.ts';
import { drainOnce } from '../drain-once.ts';
import type { Part } from '../part.ts';
import { withStack } from '../stack.ts';

export interface AccountResult {
  deliveriesPerSecond: number;
  /** Subscriptions × requests in flight to each / response time. */
  bound: number;
}

const subscriptions = 20;
// Per subscription.
const inFlight = 16;
const responseMs = 100;

export const account: Part<AccountResult> = {
  summary: `the maximum rate of one account whose ${subscriptions} receivers respond after ${responseMs} ms`,

  async run({ quick, perRound = quick ? 400 : 12_000, progress }) {
    return withStack({ receivers: subscriptions }, async (stack) => {
      const { system, receiver } = stack;
      const accounts = await system.addAccounts([receiver.origins.map((origin) => `${origin}/slow/${responseMs}`)]);
      await system.startWorker();
      progress('Warm-up');
      await drainOnce(stack, accounts, perRound / 4 / subscriptions, subscriptions);
      progress(`${perRound} deliveries`);
      const deliveriesPerSecond = await drainOnce(stack, accounts, perRound / subscriptions, subscriptions);
      return { deliveriesPerSecond, bound: (subscriptions * inFlight * 1000) / responseMs };
    });
  },

  markdown: ({ deliveriesPerSecond, bound }) =>
    markdownTable([
      [`One account, ${subscriptions} receivers that respond after ${responseMs} ms`, 'per second'],
      ['measured', Math.round(deliveriesPerSecond).toLocaleString('en-US')],
      [`bound: ${subscriptions} × ${inFlight} requests in flight`, Math.round(bound).toLocaleString('en-US')],
    ]),
};
