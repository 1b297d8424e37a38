import type { BenchOptions } from '../../bench.ts';
import { withServers } from '../../delivery/stack.ts';
import {
  growthOf,
  logStatements,
  medianTimes,
  type StatementTimes,
  timeStatements,
} from '../../delivery/statement-log.ts';
import type { BenchPostgres } from '../../postgres.ts';
import { createHistories, createOurReplays, type History } from '../our-replays.ts';

interface Size extends History {
  replays: ReturnType<typeof createOurReplays>;
}

/** Of this many deliveries, one has failed. */
const failedStep = 10;

const kinds = [
  { name: 'failed deliveries', onlyFailed: true, step: failedStep },
  { name: 'all deliveries', onlyFailed: false, step: 1 },
];

export function measureGrowth({ quick, stored = quick ? 20_000 : 1_000_000, progress }: BenchOptions) {
  const [rounds, deliveries] = quick ? [1, 100] : [3, 1_000];
  return withServers(1, async ({ postgres, receiver }, defer) => {
    const callbackUrl = `${receiver.origins[0] ?? ''}/hooks`;
    const sizes: Size[] = [];
    for (const history of await createHistories(postgres, defer, [10_000, stored], { callbackUrl, progress })) {
      const replays = createOurReplays(history.system, defer);
      await replays.markFailed(history.account, { deliveries: history.storedDeliveries, step: failedStep });
      sizes.push({ ...history, replays });
    }
    for (const { system } of sizes) await system.startWorker();
    await logStatements(postgres);
    const results = [];
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
      // Milliseconds of the statements of a replay per 1,000 deliveries that it queues. The smallest size first.
      const sizesOfKind = Array.from(measured, ([{ storedDeliveries }, each]) => ({
        storedDeliveries,
        times: medianTimes(each),
      }));
      results.push({ name: kind.name, sizes: sizesOfKind, growth: growthOf(sizesOfKind.map(({ times }) => times)) });
    }
    return { rounds, deliveries, kinds: results };
  });
}

/** Replays the newest deliveries. Returns the milliseconds of each statement of the replay per 1,000 deliveries. */
async function measureReplay(
  postgres: BenchPostgres,
  { system, replays, account }: Size,
  { onlyFailed, step }: (typeof kinds)[number],
  deliveries: number,
): Promise<StatementTimes> {
  const range = await replays.markFailed(account, { deliveries: deliveries * step, step: failedStep });
  const { result: queued, times } = await timeStatements(postgres, system, deliveries, async () => {
    const replay = await replays.start(account, range, onlyFailed);
    const ended = await replay.ended();
    await system.untilSettled();
    return ended;
  });
  if (queued !== deliveries) throw new Error(`${queued} of ${deliveries} deliveries were replayed.`);
  return Object.fromEntries(Object.entries(times).filter(([name]) => name.includes('replay')));
}
