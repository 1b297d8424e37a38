import type { AccountId } from '@deedwire/domain';
import { median } from 'simple-statistics';
import { startBenchPostgres, type BenchPostgres } from '../../postgres.ts';
import { withCleanup } from '../../with-cleanup.ts';
import { drainOnce } from '../drain-once.ts';
import { workerApplicationName } from '../ours/engine-tables.ts';
import { fillBacklog } from '../ours/fill-backlog.ts';
import { fillHistory } from '../ours/fill-history.ts';
import { createOurSystem, type OurSystem } from '../ours/our-system.ts';
import type { Part } from '../part.ts';
import { startReceiverChild, type ReceiverChild } from '../receiver-child.ts';
import { historyMarkdown, type HistoryResult, type StatementTimes, sum } from '../report.ts';
import { logPosition, logStatements, statementsSince, type LoggedStatement } from '../statement-log.ts';

interface Size {
  storedDeliveries: number;
  database: string;
  system: OurSystem;
  accounts: readonly AccountId[];
  receiver: ReceiverChild;
}

interface Round {
  deliveriesPerSecond: number;
  newEvents: StatementTimes;
  backlog: StatementTimes;
}

const accountCount = 64;

export const history: Part<HistoryResult> = {
  summary: 'the time of the statements with 10 thousand and with 5 million stored deliveries',

  async run({ quick, perRound = quick ? 128 : 8_000, progress }) {
    const rounds = quick ? 1 : 3;
    return withCleanup(async (defer) => {
      const postgres = await startBenchPostgres();
      defer(() => postgres.close());
      const receiver = await startReceiverChild(accountCount);
      defer(() => receiver.close());
      const sizes: Size[] = [];
      for (const storedDeliveries of quick ? [1000, 3000] : [10_000, 5_000_000]) {
        const database = `history_${storedDeliveries}`;
        const system = await createOurSystem(await postgres.createDatabase(database));
        defer(() => system.close());
        const accounts = await system.addAccounts(receiver.origins.map((origin) => [`${origin}/hooks`]));
        await fillHistory(system.databaseUrl, storedDeliveries, (stored) =>
          progress(
            `Stored ${stored.toLocaleString('en-US')} of ${storedDeliveries.toLocaleString('en-US')} deliveries`,
          ),
        );
        sizes.push({ storedDeliveries, database, system, accounts, receiver });
      }
      await logStatements(postgres);
      const measured = new Map(sizes.map((size) => [size, [] as Round[]]));
      for (let round = 0; round < rounds; round += 1) {
        for (const size of round % 2 === 0 ? sizes : sizes.toReversed()) {
          const result = await measureSize(postgres, size, perRound);
          measured.get(size)?.push(result);
          progress(
            `Round ${round + 1} of ${rounds}: ${size.storedDeliveries.toLocaleString('en-US')} stored deliveries`,
          );
        }
      }
      return historyResult([...measured].map(([{ storedDeliveries }, each]) => ({ storedDeliveries, rounds: each })));
    });
  },

  markdown: historyMarkdown,
};

async function measureSize(postgres: BenchPostgres, size: Size, perRound: number): Promise<Round> {
  const { database, system, accounts, receiver } = size;
  const timed = async <Result>(deliveries: number, work: () => Promise<Result>) => {
    const position = await logPosition(postgres);
    const result = await work();
    const logged = await statementsSince(postgres, position, workerApplicationName);
    const ours = logged.filter((statement) => statement.database === database);
    return { result, times: statementTimes(ours, deliveries) };
  };
  const perSubscription = Math.ceil(perRound / accountCount);
  const waiting = perSubscription * accountCount;
  await fillBacklog(system.databaseUrl, perSubscription);
  await receiver.forget();
  const { result: worker, times: backlog } = await timed(waiting, async () => {
    const started = await system.startWorker();
    await receiver.waitFor(waiting);
    await system.untilSettled();
    return started;
  });
  const drained = await timed(perRound, () => drainOnce({ system, receiver }, accounts, perRound, 1));
  await worker.stop();
  return { deliveriesPerSecond: drained.result, newEvents: drained.times, backlog };
}

function statementTimes(logged: readonly LoggedStatement[], deliveries: number): StatementTimes {
  const times: StatementTimes = {};
  for (const { name, durationMs } of logged) times[name] = (times[name] ?? 0) + (durationMs / deliveries) * 1000;
  return times;
}

/** @param sizes the smallest first */
function historyResult(sizes: readonly { storedDeliveries: number; rounds: readonly Round[] }[]): HistoryResult {
  const results = sizes.map(({ storedDeliveries, rounds }) => ({
    storedDeliveries,
    deliveriesPerSecond: median(rounds.map((round) => round.deliveriesPerSecond)),
    newEvents: medianTimes(rounds.map((round) => round.newEvents)),
    backlog: medianTimes(rounds.map((round) => round.backlog)),
  }));
  const growth = (kind: 'newEvents' | 'backlog'): number => {
    const [smallest, largest] = [results.at(0), results.at(-1)];
    return smallest === undefined || largest === undefined ? Number.NaN : sum(largest[kind]) / sum(smallest[kind]);
  };
  return { sizes: results, growth: { newEvents: growth('newEvents'), backlog: growth('backlog') } };
}

function medianTimes(rounds: readonly StatementTimes[]): StatementTimes {
  const names = [...new Set(rounds.flatMap((round) => Object.keys(round)))].toSorted();
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name] ?? 0))]));
}
