/** Fan-out of all shards in its own process, so that its memory can be measured. Started by `queued-events.test.ts`. */
import { flushCompileCache } from 'node:module';
import { createStore } from '@deedwire/store';
import { FanOut } from '../../../src/fan-out/fan-out.ts';
import type { WorkerId } from '../../../src/fence/fence.ts';
import { shardCount } from '../../../src/kernel/ids.ts';
import { setTimer } from '../../support/set-timer.ts';

/** `hot` is the account with the backlog. Its deliveries leave the process at `perSecond`; null: at once. */
export interface FanOutProcessOptions {
  databaseUrl: string;
  workerId: WorkerId;
  hot: string;
  perSecond: number | null;
}

/** Sent for each delivery of another account, and as the response to a message without shards. */
export interface FanOutProcessReport {
  kind: 'other' | 'progress';
  offeredHot: number;
  rssMb: number;
}

const { databaseUrl, workerId, hot, perSecond }: FanOutProcessOptions = JSON.parse(process.argv[2] ?? '');

/** How many deliveries of an account the engine takes ahead of what it sends. */
const aheadMax = 256;

// Compiling TypeScript takes 30 MB, which the next process then does not need.
flushCompileCache();

let offeredHot = 0;
const report = (kind: FanOutProcessReport['kind']): void => {
  process.send?.({ kind, offeredHot, rssMb: process.memoryUsage.rss() / 1e6 } satisfies FanOutProcessReport);
};

const store = createStore({ databaseUrl, applicationName: 'fan-out-process', plansOnceByIndexes: true });
const startedAtMs = performance.now();
const fanOut = new FanOut({
  store,
  clock: { setTimer },
  workerId: () => workerId,
  render: {
    knowsType: () => true,
    knows: () => true,
    render: ({ id, snapshot }) => Buffer.from(JSON.stringify({ id, data: snapshot })),
  },
  expect: () => undefined,
  offer(deliveries) {
    for (const { accountId } of deliveries) {
      if (accountId === hot) offeredHot += 1;
      else report('other');
    }
  },
  isBehind: (accountId) =>
    accountId === hot &&
    perSecond !== null &&
    offeredHot > aheadMax + ((performance.now() - startedAtMs) / 1_000) * perSecond,
  onSubscriptionChanged: async () => undefined,
  onUncertain: () => undefined,
  onEvent: () => undefined,
});
fanOut.addShards(Array.from({ length: shardCount }, (_, shard) => ({ shard, isRecovering: false })));

process.on('message', (shards: readonly number[]) => {
  if (shards.length === 0) report('progress');
  else fanOut.wake(shards);
});
