import { timeoutMaxSeconds } from '@deedwire/core';
import type { BenchOptions } from '../../bench.ts';
import { measureLatency } from '../latency.ts';
import { startReceivers } from '../receivers.ts';
import { withStack } from '../stack.ts';
import { inGroups } from '../workloads.ts';

const perSecond = 20;
const subscriptionsPerAccount = 20;
const eventsPerAccount = 20;

/** Returns the round with the median of the ratios of the p99, and the ratios of all rounds, in order. */
export async function measureHanging({ quick, progress }: BenchOptions) {
  const rounds: Awaited<ReturnType<typeof measureRound>>[] = [];
  const count = quick ? 1 : 3;
  for (let round = 1; round <= count; round += 1) {
    rounds.push(await measureRound(quick, (line) => progress(`round ${round} of ${count}: ${line}`)));
  }
  const middle = rounds.toSorted((a, b) => a.p99Ratio - b.p99Ratio)[Math.floor(count / 2)];
  if (middle === undefined) throw new Error('There is no round.');
  return { ...middle, p99Ratios: rounds.map(({ p99Ratio }) => p99Ratio) };
}

/** With its own engine: the breakers of endpoints stay open for hours. */
async function measureRound(quick: boolean, progress: (line: string) => void) {
  const accounts = quick ? 5 : 50;
  // The connections of all endpoints open in the first second. Each attempt holds one for the longest timeout.
  const startEvents = quick ? 10 : perSecond;
  const [aloneEvents, events] = quick ? [20, 20] : [600, 1_200];
  const endpoints = accounts * subscriptionsPerAccount;
  return withStack(1, async (stack, defer) => {
    const { system, receiver } = stack;
    // In their own process: the measured receiver must not wait for the connections of the others to be accepted.
    const others = await startReceivers(endpoints, defer);
    const probe = await system.addAccount([`${receiver.origins[0] ?? ''}/event/0`]);
    const urls = others.origins.map((origin) => `${origin}/hang`);
    const otherAccounts = await system.addAccounts(inGroups(urls, subscriptionsPerAccount), timeoutMaxSeconds);
    await system.startWorker();
    await measureLatency(stack, probe, { events: quick ? 5 : 100, perSecond });
    progress(`alone: ${perSecond} events per second`);
    const alone = await measureLatency(stack, probe, { events: aloneEvents, perSecond });
    const release = await system.holdEvents(otherAccounts, accounts * eventsPerAccount);
    const waiting = endpoints * eventsPerAccount;
    progress(`beside ${endpoints} endpoints that hang, with ${waiting} deliveries waiting`);
    await release();
    // The first second, in which the deliveries to the endpoints are fanned out and the connections open.
    const start = await measureLatency(stack, probe, { events: startEvents, perSecond });
    // The minute after it.
    const beside = await measureLatency(stack, probe, { events, perSecond });
    return { alone, start, beside, p99Ratio: beside.p99Ms / alone.p99Ms, endpoints, waiting };
  });
}
