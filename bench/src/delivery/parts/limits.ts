import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { startChild } from '../../child.ts';
import { wholeNumber } from '../../report.ts';
import { drainOnce, withStack } from '../stack.ts';

/** Each has one subscription. */
const accounts = 64;
const workersMax = 3;

/** The median of some rounds. */
async function repeat(rounds: number, drain: () => Promise<number>, report: (rate: string) => void): Promise<number> {
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    rates.push(await drain());
    report(`${wholeNumber(rates.at(-1) ?? Number.NaN)}/s`);
  }
  return median(rates);
}

/** Of several workers on one database. */
export function measureWorkers({ quick, perRound = quick ? 200 : 8_000, progress }: BenchOptions) {
  return withStack(accounts, async (stack) => {
    const { system, receiver } = stack;
    const ids = await system.addAccounts(receiver.origins.map((origin) => [`${origin}/hooks`]));
    const results: { workers: number; deliveriesPerSecond: number }[] = [];
    for (let workers = 1; workers <= workersMax; workers += 1) {
      progress(`Starting worker ${workers}`);
      await system.startWorker();
      await system.untilShared(workers);
      await drainOnce(stack, ids, perRound / 4);
      const drain = (): Promise<number> => drainOnce(stack, ids, perRound);
      const deliveriesPerSecond = await repeat(quick ? 1 : 3, drain, (rate) => progress(`${workers} started: ${rate}`));
      results.push({ workers, deliveriesPerSecond });
    }
    return { accounts, results };
  });
}

/** Without HTTP: every attempt succeeds at once. */
export function measureStore({ quick, perRound = quick ? 200 : 8_000, progress }: BenchOptions) {
  return withStack(0, async ({ system }, defer) => {
    const ids = await system.addAccounts(Array.from({ length: accounts }, () => ['http://127.0.0.1:1/not-called']));
    await startChild(defer, './delivery/ours/store-only-process.ts', system.workerUrl, ...system.secretKeys.split(':'));
    const drain = (): Promise<number> => drainOnce({ system, receiver: null }, ids, perRound);
    progress('Warm-up');
    await drain();
    return { accounts, deliveriesPerSecond: await repeat(quick ? 1 : 5, drain, progress) };
  });
}

const subscriptions = 20;
const responseMs = 100;
// The default WORKER_CONCURRENCY.
const slots = 2000;
// The first request of each subscription, and a sixteenth of the slots for all others.
const inFlight = subscriptions + slots / 16;

/** Of one account whose receivers respond after a delay. */
export function measureAccount({ quick, perRound = quick ? 200 : 8_000, progress }: BenchOptions) {
  return withStack(subscriptions, async (stack) => {
    const { system, receiver } = stack;
    const ids = await system.addAccounts([receiver.origins.map((origin) => `${origin}/slow/${responseMs}`)]);
    await system.startWorker();
    progress('Warm-up');
    await drainOnce(stack, ids, perRound / 4 / subscriptions, subscriptions);
    progress(`${perRound} deliveries`);
    const deliveriesPerSecond = await drainOnce(stack, ids, perRound / subscriptions, subscriptions);
    // The highest rate with these requests in flight.
    const bound = (inFlight * 1000) / responseMs;
    return { subscriptions, responseMs, inFlight, deliveriesPerSecond, bound };
  });
}
