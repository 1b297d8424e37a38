import type { WorkerId } from '../fence/fence.ts';
import { shardCount } from '../kernel/ids.ts';

export interface ShardCounts {
  own: WorkerId;
  /**
   * How many shards each worker owns, including `own`. Contains the workers that are alive, hold a lease and are not
   * leaving.
   */
  workers: ReadonlyMap<WorkerId, number>;
  free: number;
}

export interface ShardPlan {
  acquire: number;
  release: number;
}

/**
 * Returns how many shards a worker acquires and releases, so that each of n workers owns between floor(64 / n) and ceil(64
 * / n).
 *
 * Shards do not move while every share is within these bounds. All workers compute the same plan from the same counts, and
 * carry out their own part of it. Free shards go first to workers below floor(64 / n).
 */
export function planShards(counts: ShardCounts): ShardPlan {
  const own = counts.workers.get(counts.own);
  if (own === undefined) return { acquire: 0, release: 0 };
  const least = Math.floor(shardCount / counts.workers.size);
  const most = Math.ceil(shardCount / counts.workers.size);
  const shares = [...counts.workers.values()];
  const missing = shares.reduce((sum, share) => sum + Math.max(0, least - share), 0);
  const excess = shares.reduce((sum, share) => sum + Math.max(0, share - most), 0);
  const unclaimed = Math.max(0, counts.free - missing);
  const toLeast = Math.min(counts.free, Math.max(0, least - own));
  const beyondLeast = Math.min(unclaimed, Math.max(0, most - Math.max(own, least)));
  return { acquire: toLeast + beyondLeast, release: releases(counts, least, Math.max(excess, missing - counts.free)) };
}

/**
 * Returns how many of the `needed` releases are up to `own`. Each release takes one shard from the worker that then owns
 * the most.
 */
function releases({ own, workers }: ShardCounts, least: number, needed: number): number {
  const counts = new Map([...workers].toSorted(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1)));
  let released = 0;
  for (let count = 0; count < needed; count += 1) {
    const [largest, share] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
    if (share <= least) break;
    counts.set(largest, share - 1);
    if (largest === own) released += 1;
  }
  return released;
}
