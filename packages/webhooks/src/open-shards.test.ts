import { StoreUnavailableError, type Store } from '@deedwire/store';
import { beforeEach, expect, test, vi } from 'vitest';
import { laneId } from '../test/dispatch/ids.ts';
import { type LaneId, type Shard, shardOf } from './kernel/ids.ts';
import { openShards } from './open-shards.ts';

const accountOf = (shard: Shard): number => 64 + shard;

let subscriptions: Map<Shard, LaneId[]>;
let owned: Set<Shard>;
/** What happened, in order. */
let steps: string[];
/** Called before each page is returned. */
let onPage: (shard: Shard) => Promise<void> | void;

/** Responds to the only statement, whose values are the shard, the id before the page and the size of the page. */
const query = async (_: unknown, [shard, after, limit]: readonly unknown[]) => {
  await onPage(shard as Shard);
  const lanes = (subscriptions.get(shard as Shard) ?? [])
    .filter(({ subscriptionId }) => BigInt(subscriptionId) > BigInt(after as string))
    .slice(0, Number(limit));
  return [{ lanes, last: lanes.length === limit ? lanes.at(-1)?.subscriptionId : null }];
};

beforeEach(() => {
  [subscriptions, owned, steps, onPage] = [new Map(), new Set(), [], () => {}];
});

function addShard(shard: Shard, lanes: number): void {
  owned.add(shard);
  const first = shard * 100_000 + 1;
  subscriptions.set(
    shard,
    Array.from({ length: lanes }, (_, index) => laneId(first + index, accountOf(shard))),
  );
}

const open = (shards: readonly Shard[], isRecovering = false): Promise<void> =>
  openShards(
    {
      store: { query: query as Store['query'] },
      clock: {
        setTimer(callback) {
          setImmediate(callback);
          return () => {};
        },
      },
      dispatcher: {
        openLanes(lanes, areRecovering) {
          const [first] = lanes;
          if (first !== undefined) steps.push(`${lanes.length} lanes of ${shardOf(first.accountId)}`);
          expect(areRecovering).toBe(isRecovering);
        },
      },
      onOpened: ({ shard }) => void steps.push(`fan-out of ${shard}`),
      isOwned: (shard) => owned.has(shard),
      onUnavailable: (shard) => void steps.push(`${shard} unavailable`),
      onResumed: () => void steps.push('resumed'),
    },
    shards.map((shard) => ({ shard, isRecovering })),
  );

test('opens the lanes of a shard page by page, then starts its fan-out', async () => {
  addShard(3, 4_500);
  await open([3], true);
  expect(steps).toEqual(['2000 lanes of 3', '2000 lanes of 3', '500 lanes of 3', 'fan-out of 3']);
});

test('a shard with many lanes does not delay the others', async () => {
  addShard(1, 1);
  addShard(2, 1);
  addShard(3, 1);
  const second = Promise.withResolvers<void>();
  onPage = (shard) => (shard === 1 ? second.promise : undefined);
  const opened = open([1, 2, 3]);
  await vi.waitFor(() => expect(steps).toContain('fan-out of 3'));
  expect(steps).toContain('fan-out of 2');
  expect(steps).not.toContain('fan-out of 1');
  second.resolve();
  await opened;
  expect(steps.at(-1)).toBe('fan-out of 1');
});

test('continues with the same page after the database was unavailable', async () => {
  addShard(5, 2_500);
  let pages = 0;
  onPage = () => {
    pages += 1;
    if (pages === 2) throw new StoreUnavailableError('test');
  };
  await open([5]);
  expect(steps).toEqual(['2000 lanes of 5', '5 unavailable', 'resumed', '500 lanes of 5', 'fan-out of 5']);
});

test('stops with a shard that the worker has lost', async () => {
  addShard(6, 5_000);
  let pages = 0;
  onPage = () => {
    pages += 1;
    if (pages === 2) owned.delete(6);
  };
  await open([6]);
  expect(steps).toEqual(['2000 lanes of 6']);
});
