import type { Database } from '@deedwire/store';
import type { WorkerId } from '../fence/fence.ts';
import { feedReplay } from './sql/feed.ts';
import { selectOpenReplays } from './sql/open-replays.ts';
import { selectDelivery, selectPart } from './sql/parts.ts';
import { retryPendingDelivery } from './sql/retry.ts';
import type { ReplayStorage } from './storage.ts';

/** The storage of replays in PostgreSQL. */
export function createReplayStorage(store: Database, workerId: () => WorkerId): ReplayStorage {
  return {
    open: (shards) => selectOpenReplays(store, workerId(), shards),
    part: (replay, after) => selectPart(store, replay, after),
    feed: (replay, after, part) => feedReplay(store, workerId(), replay, after, part),
    async retry(replay) {
      const result = await retryPendingDelivery(store, workerId(), replay);
      if (result !== 'finished' || replay.deliveryId === null) return result === 'finished' ? 'changed' : result;
      const deliveries = await selectDelivery(store, replay, replay.deliveryId);
      const part = { deliveries, lastId: replay.deliveryId, isLast: true };
      const queued = await feedReplay(store, workerId(), replay, replay.lastId, part);
      return queued === 'changed' || queued.length === 0 ? 'changed' : 'queued';
    },
  };
}
