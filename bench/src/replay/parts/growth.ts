import { median } from 'simple-statistics';
import { workerApplicationName } from '../../delivery/ours/engine-tables.ts';
import type { Part } from '../../delivery/part.ts';
import { startReceiverChild } from '../../delivery/receiver-child.ts';
import { type StatementTimes, sum } from '../../delivery/report.ts';
import { logPosition, logStatements, statementsSince } from '../../delivery/statement-log.ts';
import { type BenchPostgres, startBenchPostgres } from '../../postgres.ts';
import { withCleanup } from '../../with-cleanup.ts';
import { createHistories, type History } from '../histories.ts';
import { createOurReplays, type OurReplays } from '../our-replays.ts';
import { growthMarkdown, type GrowthResult } from '../report.ts';

interface Size extends History {
  replays: OurReplays;
}

/** Of this many deliveries, one has failed. */
const failedStep = 10;

const kinds = [
  { name: 'failed deliveries', onlyFailed: true, step: failedStep },
  { name: 'all deliveries', onlyFailed: false, step: 1 },
];

export const growth: Part<GrowthResult> = {
  summary:
    'the time of the statements of a replay with 10 thousand and with 1 million stored deliveries (--stored 5000000: 5)',

  async run({ quick, stored = quick ? 20_000 : 1_000_000, progress }) {
    const [rounds, deliveries] = quick ? [1, 100] : [3, 1_000];
    return withCleanup(async (defer) => {
      const postgres = await startBenchPostgres();
      defer(() => postgres.close());
      const receiver = await startReceiverChild(1);
      defer(() => receiver.close());
      const callbackUrl = `${receiver.origins[0] ?? ''}/hooks`;
      const sizes: Size[] = [];
      for (const history of await createHistories(postgres, defer, [10_000, stored], { callbackUrl, progress })) {
        const replays = createOurReplays(history.system.databaseUrl);
        defer(() => replays.close());
        await replays.markFailed(history.account, { deliveries: history.storedDeliveries, step: failedStep });
        sizes.push({ ...history, replays });
      }
      for (const { system } of sizes) await system.startWorker();
      await logStatements(postgres);
      const results: GrowthResult['kinds'] = [];
      for (const kind of kinds) {
        const measured = new Map(sizes.map((size) => [size, [] as StatementTimes[]]));
        for (let round = 0; round <= rounds; round += 1) {
          for (const size of round % 2 === 0 ? sizes : sizes.toReversed()) {
            const times = await measureReplay(postgres, size, kind, deliveries);
            // The first round compiles the code and plans the statements.
            if (round > 0) measured.get(size)?.push(times);
          }
          progress(`${kind.name}: round ${round} of ${rounds}`);
        }
        const sizesOfKind = [...measured].map(([{ storedDeliveries }, each]) => ({
          storedDeliveries,
          times: medianTimes(each),
        }));
        const [smallest, largest] = [sizesOfKind.at(0), sizesOfKind.at(-1)];
        const ratio = smallest && largest ? sum(largest.times) / sum(smallest.times) : Number.NaN;
        results.push({ name: kind.name, sizes: sizesOfKind, growth: ratio });
      }
      return { rounds, deliveries, kinds: results };
    });
  },

  markdown: growthMarkdown,
};

/** Replays the newest deliveries. Returns the milliseconds of each statement of the replay per 1,000 deliveries. */
async function measureReplay(
  postgres: BenchPostgres,
  { database, system, replays, account }: Size,
  { onlyFailed, step }: (typeof kinds)[number],
  deliveries: number,
): Promise<StatementTimes> {
  const range = await replays.markFailed(account, { deliveries: deliveries * step, step: failedStep });
  const position = await logPosition(postgres);
  const replay = await replays.start(account, range, onlyFailed);
  const queued = await replay.ended();
  await system.untilSettled();
  if (queued !== deliveries) throw new Error(`${queued} of ${deliveries} deliveries were replayed.`);
  const times: StatementTimes = {};
  for (const statement of await statementsSince(postgres, position, workerApplicationName)) {
    const { name, durationMs } = statement;
    if (statement.database !== database || !/replay/.test(name)) continue;
    times[name] = (times[name] ?? 0) + (durationMs / deliveries) * 1000;
  }
  return times;
}

function medianTimes(rounds: readonly StatementTimes[]): StatementTimes {
  const names = [...new Set(rounds.flatMap((round) => Object.keys(round)))].toSorted();
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name] ?? 0))]));
}
