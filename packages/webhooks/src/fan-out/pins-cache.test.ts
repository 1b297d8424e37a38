import { toRecordId } from '@deedwire/core';
import { expect, test } from 'vitest';
import type { AccountId } from '../kernel/ids.ts';
import type { AccountPins } from '../subscriptions/read-pins.ts';
import { PinsCache } from './pins-cache.ts';
import { QueuedAccount } from './queued-account.ts';

const a = new QueuedAccount(toRecordId('1'));
const b = new QueuedAccount(toRecordId('2'));

/** Every read returns new pins, without account b. */
function countingCache(beforeReturn: () => Promise<void> = async () => {}) {
  const reads: (readonly AccountId[])[] = [];
  const cache = new PinsCache(async (accounts) => {
    reads.push(accounts);
    await beforeReturn();
    const pins: AccountPins = { accountId: a.id, interfaceName: 'customer', subscriptions: [] };
    return new Map(accounts.filter((account) => account === a.id).map((account) => [account, pins]));
  }, 2);
  return { cache, reads };
}

test('reads an account once, even without subscriptions', async () => {
  const { cache, reads } = countingCache();
  expect([...(await cache.get([a, b])).keys()]).toEqual([a.id]);
  expect([...(await cache.get([a, b])).keys()]).toEqual([a.id]);
  expect(reads).toEqual([[a.id, b.id]]);
  expect(cache.peek(b.id)).toBeNull();
});

test('reads an account again after a change, and after two intervals', async () => {
  const { cache, reads } = countingCache();
  await cache.get([a]);
  cache.drop(a.id);
  await cache.get([a]);
  cache.age();
  await cache.get([a]);
  expect(reads).toHaveLength(2);
  cache.age();
  await cache.get([a]);
  expect(reads).toHaveLength(3);
});

test('drops a removed shard, and the reads of it that are in progress', async () => {
  const gate = Promise.withResolvers<void>();
  const { cache, reads } = countingCache(() => (reads.length === 2 ? gate.promise : Promise.resolve()));
  const account = new QueuedAccount(a.id);
  await cache.get([account]);
  cache.dropAll((id) => id === a.id);
  expect(cache.peek(a.id)).toBeUndefined();
  const reading = cache.get([account]);
  account.isRemoved = true;
  gate.resolve();
  await reading;
  expect(cache.peek(a.id)).toBeUndefined();
});
