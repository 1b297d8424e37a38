import { StoreUnavailableError, type Store } from '@deedwire/store';
import type { Dispatcher } from './dispatch/dispatcher.ts';
import { type LanePage, selectLanesOfShard } from './dispatch/sql/lanes.ts';
import { Backoff, type Clock } from './kernel/clock.ts';
import type { SubscriptionId, Shard } from './kernel/ids.ts';
import type { AcquiredShard } from './workers/sql/shard-rows.ts';

export interface OpenShardsOptions {
  store: Pick<Store, 'query'>;
  clock: Pick<Clock, 'setTimer'>;
  dispatcher: Pick<Dispatcher, 'openLanes'>;
  /** Starts fan-out of the shard. */
  onOpened: (shard: AcquiredShard) => void;
  /** False once the worker has lost or released the shard. */
  isOwned: (shard: Shard) => boolean;
  onUnavailable: (shard: Shard, error: unknown) => void;
  /** A read has succeeded after it had failed. */
  onResumed: () => void;
}

/** Bounds the time of a statement and the time for which the process does nothing else. */
const subscriptionsPerPage = 2_000;

/** How many shards are opened at the same time. */
const shardsMax = 4;

/** Opens acquired shards. Each one works as soon as its lanes are open. */
export async function openShards(options: OpenShardsOptions, acquired: readonly AcquiredShard[]): Promise<void> {
  const waiting = [...acquired];
  const openNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await openShard(options, next);
  };
  const results = await Promise.allSettled(Array.from({ length: shardsMax }, openNext));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/**
 * Opens the lanes of a shard, then starts fan-out. The order matters: the dispatcher assumes that a lane it first sees in
 * `offer` has no earlier pending deliveries.
 */
async function openShard(options: OpenShardsOptions, acquired: AcquiredShard): Promise<void> {
  const { dispatcher, onOpened, isOwned } = options;
  const { shard, isRecovering } = acquired;
  let after: SubscriptionId | null = null;
  do {
    const page: LanePage | null = await readPage(options, shard, after);
    if (page === null || !isOwned(shard)) return;
    dispatcher.openLanes(page.lanes, isRecovering);
    after = page.last;
  } while (after !== null);
  onOpened(acquired);
}

/** Retries while the database is unavailable. Null once the worker has lost or released the shard. */
async function readPage(
  { store, clock, isOwned, onUnavailable, onResumed }: OpenShardsOptions,
  shard: Shard,
  after: SubscriptionId | null,
): Promise<LanePage | null> {
  const backoff = new Backoff();
  while (isOwned(shard)) {
    try {
      const page = await selectLanesOfShard(store, shard, after, subscriptionsPerPage);
      if (backoff.reset()) onResumed();
      return page;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      onUnavailable(shard, error);
      await new Promise<void>((resolve) => clock.setTimer(resolve, backoff.next()));
    }
  }
  return null;
}
