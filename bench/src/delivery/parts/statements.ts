import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../../bench.ts';
import { paced } from '../latency.ts';
import { withStack } from '../stack.ts';
import { type LoggedStatement, logStatements, statementsDuring } from '../statement-log.ts';

export function measureStatements({ quick, progress }: BenchOptions) {
  const events = quick ? 2 : 15;
  return withStack(1, async ({ postgres, receiver, system }) => {
    const account = await system.addAccount(receiver.origins.map((origin) => `${origin}/hooks`));
    await system.startWorker();
    await paced(3, 1, (index) => system.commitEvent(account, `warm-up-${index}`));
    await system.untilSettled();
    await logStatements(postgres);
    progress(`Idle for ${events} s`);
    const { statements: idle } = await statementsDuring(postgres, () => sleep(events * 1000));
    progress(`${events} events, one per second`);
    const { statements: busy } = await statementsDuring(postgres, async () => {
      await paced(events, 1, (index) => system.commitEvent(account, `event-${index}`));
      // The last event gets its second, too.
      await sleep(1000);
    });
    return countPerDelivery(idle, busy, events);
  });
}

/** @param seconds the length of both periods, and the number of events in the second */
export function countPerDelivery(idle: readonly LoggedStatement[], busy: readonly LoggedStatement[], seconds: number) {
  // A named statement is logged up to three times.
  const [idleRuns, busyRuns] = [idle, busy].map((logged) =>
    logged.filter(({ phase }) => phase === 'execute' || phase === 'statement').map(({ name }) => name),
  );
  const names = [...new Set([...(idleRuns ?? []), ...(busyRuns ?? [])])].toSorted();
  return {
    // Without those that the worker also runs when idle. Below 0: run less often.
    perDelivery: (count(busyRuns) - count(idleRuns)) / seconds,
    idlePerSecond: count(idleRuns) / seconds,
    byName: Object.fromEntries(names.map((name) => [name, (count(busyRuns, name) - count(idleRuns, name)) / seconds])),
  };
}

/** @param name undefined for all */
function count(runs: readonly string[] = [], name?: string): number {
  return runs.filter((each) => name === undefined || each === name).length;
}
