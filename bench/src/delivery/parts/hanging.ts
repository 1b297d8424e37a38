import { measureLatency } from '../measure-latency.ts';
import type { Part } from '../part.ts';
import { startReceiverChild } from '../receiver-child.ts';
import { hangingMarkdown, type HangingResult, type HangingRound } from '../report.ts';
import { withStack } from '../stack.ts';

const perSecond = 20;
const subscriptionsPerAccount = 20;
const eventsPerAccount = 20;

export const hanging: Part<HangingResult> = {
  summary: 'the latency of an account beside 1,000 endpoints of other accounts that never respond',

  async run({ quick, progress }) {
    const rounds: HangingRound[] = [];
    const count = quick ? 1 : 3;
    for (let round = 1; round <= count; round += 1) {
      rounds.push(await measureRound(quick, (line) => progress(`round ${round} of ${count}: ${line}`)));
    }
    const sorted = rounds.toSorted((a, b) => a.p99Ratio - b.p99Ratio);
    const middle = sorted[Math.floor(sorted.length / 2)];
    if (middle === undefined) throw new Error('There is no round.');
    return { ...middle, p99Ratios: rounds.map(({ p99Ratio }) => p99Ratio) };
  },

  markdown: hangingMarkdown,
};

/** With an engine of its own: the breakers of endpoints stay open for hours. */
async function measureRound(quick: boolean, progress: (line: string) => void): Promise<HangingRound> {
  const accounts = quick ? 5 : 50;
  // The connections of all endpoints open in the first second, and the breakers open after half of the minute that follows.
  const startEvents = quick ? 10 : perSecond;
  const [aloneEvents, events] = quick ? [20, 20] : [600, 1_200];
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
    progress(`alone: ${perSecond} events per second`);
    const alone = await measureLatency(stack, probe, { events: aloneEvents, perSecond });
    const held = await system.holdEvents(otherAccounts, accounts * eventsPerAccount);
    const waiting = endpoints * eventsPerAccount;
    progress(`beside ${endpoints} endpoints that hang, with ${waiting} deliveries waiting`);
    await held.release();
    const start = await measureLatency(stack, probe, { events: startEvents, perSecond });
    const beside = await measureLatency(stack, probe, { events, perSecond });
    return { alone, start, beside, p99Ratio: beside.p99Ms / alone.p99Ms, endpoints, waiting };
  });
}
