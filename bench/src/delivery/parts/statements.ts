import { setTimeout as sleep } from 'node:timers/promises';
import { workerApplicationName } from '../ours/engine-tables.ts';
import { paced } from '../paced.ts';
import type { Part } from '../part.ts';
import { statementsMarkdown, type StatementsResult } from '../report.ts';
import { withStack } from '../stack.ts';
import { logPosition, logStatements, statementsSince, type LoggedStatement } from '../statement-log.ts';

export const statements: Part<StatementsResult> = {
  summary: 'statements of the worker per delivery, at one event per second',

  async run({ quick, progress }) {
    const events = quick ? 2 : 15;
    return withStack({ receivers: 1 }, async ({ postgres, receiver, system }) => {
      const [account] = await system.addAccounts([receiver.origins.map((origin) => `${origin}/hooks`)]);
      if (account === undefined) throw new Error('There is no account.');
      await system.startWorker();
      await paced(3, 1, (index) => system.commitEvent(account, `warm-up-${index}`));
      await system.untilSettled();
      await logStatements(postgres);
      const during = async (work: () => Promise<unknown>): Promise<LoggedStatement[]> => {
        const position = await logPosition(postgres);
        await work();
        return statementsSince(postgres, position, workerApplicationName);
      };
      progress(`Idle for ${events} s`);
      const idle = await during(() => sleep(events * 1000));
      progress(`${events} events, one per second`);
      const busy = await during(async () => {
        await paced(events, 1, (index) => system.commitEvent(account, `event-${index}`));
        // The last event gets its second, too.
        await sleep(1000);
      });
      return countPerDelivery(idle, busy, events);
    });
  },

  markdown: statementsMarkdown,
};

/** @param seconds the length of both periods, and the number of events in the second */
export function countPerDelivery(
  idle: readonly LoggedStatement[],
  busy: readonly LoggedStatement[],
  seconds: number,
): StatementsResult {
  const [idleCounts, busyCounts] = [countByName(idle), countByName(busy)];
  const names = [...new Set([...idleCounts.keys(), ...busyCounts.keys()])].toSorted();
  const byName = names.map(
    (name) => [name, ((busyCounts.get(name) ?? 0) - (idleCounts.get(name) ?? 0)) / seconds] as const,
  );
  return {
    perDelivery: (total(busyCounts) - total(idleCounts)) / seconds,
    idlePerSecond: total(idleCounts) / seconds,
    byName: Object.fromEntries(byName),
  };
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function countByName(logged: readonly LoggedStatement[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name, phase } of logged) {
    if (phase === 'execute' || phase === 'statement') counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
