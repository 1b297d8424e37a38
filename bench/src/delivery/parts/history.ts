import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { wholeNumber } from '../../report.ts';
import { fillBacklog, fillHistory } from '../ours/fill-history.ts';
import { createOurSystem } from '../ours/our-system.ts';
import { drainOnce, withServers } from '../stack.ts';
import { growthOf, logStatements, medianTimes, type StatementTimes, timeStatements } from '../statement-log.ts';

interface Round {
  deliveriesPerSecond: number;
  /** Events that are fanned out, sent and settled. */
  newEvents: StatementTimes;
  /** Deliveries that wait when the worker starts: claimed, sent and settled. */
  backlog: StatementTimes;
}

const accountCount = 64;

export function measureHistory({ quick, perRound = quick ? 128 : 8_000, progress }: BenchOptions) {
  const rounds = quick ? 1 : 3;
  const perSubscription = Math.ceil(perRound / accountCount);
  const waiting = perSubscription * accountCount;
  return withServers(accountCount, async ({ postgres, receiver }, defer) => {
    const sizes = [];
    for (const storedDeliveries of quick ? [1000, 3000] : [10_000, 5_000_000]) {
      const system = await createOurSystem(postgres, `history_${storedDeliveries}`, defer);
      const accounts = await system.addAccounts(receiver.origins.map((origin) => [`${origin}/hooks`]));
      await fillHistory(system.databaseUrl, storedDeliveries, progress);
      const measure = async (): Promise<Round> => {
        await fillBacklog(system.databaseUrl, perSubscription);
        await receiver.forget();
        const { result: worker, times: backlog } = await timeStatements(postgres, system, waiting, async () => {
          const started = await system.startWorker();
          await receiver.waitFor(waiting);
          await system.untilSettled();
          return started;
        });
        const { result: deliveriesPerSecond, times: newEvents } = await timeStatements(postgres, system, perRound, () =>
          drainOnce({ system, receiver }, accounts, perRound),
        );
        await worker.stop();
        return { deliveriesPerSecond, newEvents, backlog };
      };
      const measured: Round[] = [];
      sizes.push({ storedDeliveries, measure, measured });
    }
    await logStatements(postgres);
    for (let round = 0; round < rounds; round += 1) {
      for (const { storedDeliveries, measure, measured } of round % 2 === 0 ? sizes : sizes.toReversed()) {
        measured.push(await measure());
        progress(`Round ${round + 1} of ${rounds}: ${wholeNumber(storedDeliveries)} stored deliveries`);
      }
    }
    const results = sizes.map(({ storedDeliveries, measured }) => ({
      storedDeliveries,
      deliveriesPerSecond: median(measured.map((each) => each.deliveriesPerSecond)),
      newEvents: medianTimes(measured.map(({ newEvents }) => newEvents)),
      backlog: medianTimes(measured.map(({ backlog }) => backlog)),
    }));
    const growth = {
      newEvents: growthOf(results.map(({ newEvents }) => newEvents)),
      backlog: growthOf(results.map(({ backlog }) => backlog)),
    };
    return { sizes: results, growth };
  });
}
