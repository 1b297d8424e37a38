import { toRecordId } from '@deedwire/domain';
import { expect, test } from 'vitest';
import type { AccountId } from '../kernel/ids.ts';
import { shardOf } from '../kernel/shard.ts';
import type { AccountPins } from '../subscriptions/read-pins.ts';
import { PinsCache } from './pins-cache.ts';

const a: AccountId = toRecordId('1');
const b: AccountId = toRecordId('2');

/** Every read returns new pins, without account b. */
function countingCache(beforeReturn: () => Promise<void> = async () => {}) {
  const reads: (readonly AccountId[])[] = [];
  const cache = new PinsCache({
    generationsMax: 2,
    async read(accounts) {
      reads.push(accounts);
      await beforeReturn();
      const pins: AccountPins = { accountId: a, interfaceName: 'partner', subscriptions: [] };
      return new Map(accounts.filter((account) => account === a).map((account) => [account, pins]));
    },
  });
  return { cache, reads };
}

test('reads an account once, even without subscriptions', async () => {
  const { cache, reads } = countingCache();
  expect([...(await cache.get([a, b])).keys()]).toEqual([a]);
  expect([...(await cache.get([a, b])).keys()]).toEqual([a]);
  expect(reads).toEqual([[a, b]]);
  expect(cache.peek(b)).toBeNull();
});

test('reads an account again after a change, and after two intervals', async () => {
  const { cache, reads } = countingCache();
  await cache.get([a]);
  cache.drop(a);
  await cache.get([a]);
  cache.age();
  await cache.get([a]);
  expect(reads).toHaveLength(2);
  cache.age();
  await cache.get([a]);
  expect(reads).toHaveLength(3);
});

test('does not cache a read that started before a change', async () => {
  const gate = Promise.withResolvers<void>();
  const { cache, reads } = countingCache(() => gate.promise);
  const reading = cache.get([a]);
  cache.drop(a);
  gate.resolve();
  await reading;
  expect(cache.peek(a)).toBeUndefined();
  await cache.get([a]);
  expect(reads).toHaveLength(2);
});

test('drops a removed shard, and the reads of it that are in progress', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { cache, reads } = countingCache(() => (reads.length === 2 ? promise : Promise.resolve()));
  await cache.get([a]);
  cache.dropShard(shardOf(a));
  expect(cache.peek(a)).toBeUndefined();
  const reading = cache.get([a]);
  cache.dropShard(shardOf(a));
  resolve();
  await reading;
  expect(cache.peek(a)).toBeUndefined();
});
