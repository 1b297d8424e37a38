import { StoreUnavailableError, type Store } from '@deedwire/store';
import type { Dispatcher } from './dispatch/dispatcher.ts';
import { selectLanesOfShards } from './dispatch/sql/select-lanes-of-shards.ts';
import type { FanOut } from './fan-out/fan-out.ts';
import { Backoff } from './kernel/backoff.ts';
import type { Clock } from './kernel/clock.ts';
import { type Shard, shardOf } from './kernel/shard.ts';
import type { AcquiredShard } from './workers/sql/acquire-shards.ts';

export interface OpenShardsOptions {
  store: Store;
  clock: Pick<Clock, 'setTimer'>;
  dispatcher: Dispatcher;
  fanOut: Pick<FanOut, 'addShards'>;
  /** False once the worker has lost or released the shard. */
  isOwned: (shard: Shard) => boolean;
  onUnavailable: (error: unknown) => void;
}

/**
 * Opens the lanes of acquired shards, then starts fan-out. The order matters: the dispatcher assumes that a lane it
 * first sees in `offer` has no earlier pending deliveries.
 */
export async function openShards(options: OpenShardsOptions, acquired: readonly AcquiredShard[]): Promise<void> {
  const { store, clock, dispatcher, fanOut, isOwned, onUnavailable } = options;
  const backoff = new Backoff();
  for (;;) {
    const owned = acquired.filter(({ shard }) => isOwned(shard));
    if (owned.length === 0) return;
    try {
      const lanes = await selectLanesOfShards(
        store,
        owned.map(({ shard }) => shard),
      );
      const recovering = new Set(owned.filter(({ isRecovering }) => isRecovering).map(({ shard }) => shard));
      const opened = lanes.filter(({ accountId }) => isOwned(shardOf(accountId)));
      dispatcher.openShardAfterTakeover(opened.filter(({ accountId }) => recovering.has(shardOf(accountId))));
      for (const lane of opened) if (!recovering.has(shardOf(lane.accountId))) dispatcher.openLane(lane);
      fanOut.addShards(owned.filter(({ shard }) => isOwned(shard)));
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      onUnavailable(error);
      await new Promise<void>((resolve) => clock.setTimer(resolve, backoff.next()));
    }
  }
}
