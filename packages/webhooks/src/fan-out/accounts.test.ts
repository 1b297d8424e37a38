import { toRecordId } from '@deedwire/core';
import { expect, test } from 'vitest';
import { type AccountId, shardOf } from '../kernel/ids.ts';
import { Accounts, frequentEntriesMin, type OwnedShard, retriesMax } from './accounts.ts';
import type { QueuedAccount } from './queued-account.ts';

const idOf = (number: number): AccountId => toRecordId(String(number));
const one = (): number => 1;
const idsOf = (accounts: readonly QueuedAccount[]): number[] => accounts.map(({ id }) => Number(id));

/** The accounts 1, 2 and so on, each in its own shard, with a backlog. */
function backlogOf(count: number, isBehind: (account: AccountId) => boolean = () => false) {
  const accounts = new Accounts(isBehind);
  const backlog = Array.from({ length: count }, (_, index) => take(accounts, index + 1, true));
  for (const account of backlog) accounts.release(account);
  return { accounts, backlog };
}

function take(accounts: Accounts, number: number, hasMore = false): QueuedAccount {
  const account = accounts.take(ownedOf(accounts, number), idOf(number), ownedOf(accounts, number).wakes);
  account.hasMore = hasMore;
  return account;
}

function ownedOf(accounts: Accounts, number: number): OwnedShard {
  const shard = shardOf(idOf(number));
  if (accounts.shards.get(shard) === undefined) accounts.add(shard);
  const owned = accounts.shards.get(shard);
  if (owned === undefined) throw new Error('The shard was not added.');
  return owned;
}

const wokenOf = ({ shards }: Accounts): OwnedShard[] => [...shards.values()].filter(({ isWoken }) => isWoken);

/** An account that rests at a position. */
function resting(accounts: Accounts, number: number, after: number): QueuedAccount {
  const account = take(accounts, number);
  accounts.count(account, frequentEntriesMin);
  account.after = after;
  accounts.release(account);
  return account;
}

test('accounts take turns, and continue where the last round ended', () => {
  const { accounts } = backlogOf(3);
  const first = accounts.takeTurns(16, one);
  expect(idsOf(first)).toEqual([1, 2]);
  for (const account of first) {
    account.hasMore = true;
    accounts.release(account);
  }
  expect(idsOf(accounts.takeTurns(24, one))).toEqual([3, 1, 2]);
});

test('a turn of an account whose events have many deliveries takes more of a round', () => {
  const { accounts } = backlogOf(4);
  expect(idsOf(accounts.takeTurns(28, (id) => (id === '1' ? 20 : 3)))).toEqual([1, 2]);
});

test('an account is in one round at a time, and leaves memory when it has no further entries', () => {
  const { accounts } = backlogOf(1);
  const [account] = accounts.takeTurns(100, one);
  expect(accounts.takeTurns(100, one)).toEqual([]);
  expect(accounts.size).toBe(1);
  if (account !== undefined) accounts.release(account);
  expect(accounts.size).toBe(0);
  expect(accounts.takeTurns(100, one)).toEqual([]);
});

test('an account whose lanes have enough to send gets a turn after 50 retries', () => {
  const { accounts } = backlogOf(2, (id) => id === '1');
  for (let turn = 0; turn < 2; turn += 1) {
    expect(idsOf(accounts.takeTurns(100, one))).toEqual(turn === 0 ? [2] : []);
    for (let retry = 1; retry < retriesMax; retry += 1) accounts.retryBehind();
    expect(accounts.takeTurns(100, one)).toEqual([]);
    expect(accounts.behind.size > 0).toBe(true);
    accounts.retryBehind();
    const [account] = accounts.takeTurns(100, one);
    expect(account?.id).toBe('1');
    expect(accounts.behind.size > 0).toBe(false);
    if (account !== undefined) {
      account.hasMore = true;
      accounts.release(account);
    }
  }
});

test('an account that waits for its lanes gets a turn as soon as these need more', () => {
  let isBehind = true;
  const { accounts } = backlogOf(1, () => isBehind);
  expect(accounts.takeTurns(100, one)).toEqual([]);
  isBehind = false;
  accounts.retryBehind();
  expect(idsOf(accounts.takeTurns(100, one))).toEqual([1]);
});

test('a retry examines 512 accounts, and each account in its turn', () => {
  const examined: AccountId[] = [];
  const { accounts } = backlogOf(1_100, (id) => examined.push(id) > 0);
  accounts.takeTurns(Infinity, one);
  examined.length = 0;
  accounts.retryBehind();
  expect(examined).toHaveLength(512);
  accounts.retryBehind();
  accounts.retryBehind();
  expect(new Set(examined).size).toBe(1_100);
});

test('a shard that is woken while an account is in a round is read again when the account is released', () => {
  const accounts = new Accounts(() => false);
  const owned = ownedOf(accounts, 1);
  const account = take(accounts, 1);
  owned.isWoken = false;
  accounts.wake([owned.shard]);
  owned.isWoken = false; // The account is skipped by this read.
  accounts.release(account);
  expect(wokenOf(accounts)).toEqual([owned]);
  // Another account was read before its release.
  const other = take(accounts, 65);
  owned.isWoken = false;
  accounts.release(other);
  expect(wokenOf(accounts)).toEqual([]);
});

test('the end of a backlog is read again, unless the account rests: it is then checked', () => {
  for (const entries of [0, frequentEntriesMin]) {
    const accounts = new Accounts(() => false);
    const owned = ownedOf(accounts, 1);
    const account = take(accounts, 1);
    accounts.count(account, entries);
    account.hasMore = true;
    accounts.release(account);
    accounts.takeTurns(100, one);
    owned.isWoken = false;
    accounts.release(account);
    expect(wokenOf(accounts)).toEqual(entries === 0 ? [owned] : []);
    expect([...accounts.toCheck]).toEqual(entries === 0 ? [] : [account]);
  }
});

test('reads skip accounts in memory, and the events of resting accounts that were fanned out before the poll before the last', () => {
  const accounts = new Accounts(() => false);
  const owned = ownedOf(accounts, 64);
  const account = resting(accounts, 64, 7);
  take(accounts, 128);
  const through = () => accounts.skips(owned);
  const busy = { account: '128', through: null };
  expect(through()).toEqual([{ account: '64', through: 0 }, busy]);
  accounts.poll();
  account.after = 8;
  accounts.poll();
  expect(through()).toEqual([{ account: '64', through: 7 }, busy]);
  accounts.poll();
  expect(through()).toEqual([{ account: '64', through: 8 }, busy]);
  // The first entries of the shard 0 are read after every fifth poll.
  expect([...accounts.toCheck]).toEqual([]);
  accounts.poll();
  accounts.poll();
  expect(accounts.toCheck).toContain(account);
  expect(accounts.size).toBe(1);
});

test('an account is checked for entries that it passed after its backlog, after entries were unblocked, and until it has none', () => {
  const { accounts, backlog } = backlogOf(1);
  const [account] = backlog;
  if (account === undefined) throw new Error('There is no account.');
  accounts.takeTurns(100, one);
  account.after = account.readAfter = 500;
  accounts.count(account, 500);
  const owned = ownedOf(accounts, 1);
  accounts.release(account);
  expect([...accounts.toCheck]).toEqual([account]);
  const check = (first: number): void => {
    expect([...accounts.toCheck]).toEqual([account]);
    accounts.toCheck.clear();
    owned.isWoken = false;
    accounts.checked(account, first);
  };
  check(400);
  expect(wokenOf(accounts)).toEqual([owned]);
  expect(accounts.skips(owned)).toEqual([{ account: '1', through: 399 }]);
  check(501);
  expect(wokenOf(accounts)).toEqual([]);
  expect(accounts.skips(owned)).toEqual([{ account: '1', through: 500 }]);
  accounts.unblocked(account.id);
  check(Infinity);
  expect([...accounts.toCheck]).toEqual([]);
});

test('the positions of the 1,000 accounts that were read last are remembered, and others leave memory', () => {
  const accounts = new Accounts(() => false);
  for (let number = 1; number <= 1_002; number += 1) {
    resting(accounts, number, 7);
    resting(accounts, 1, 7);
  }
  const skips = [...accounts.shards.values()].flatMap((owned) => accounts.skips(owned));
  expect(skips).toHaveLength(1_000);
  expect(skips.map(({ account }) => account)).toEqual(expect.arrayContaining(['1', '1002']));
});

test('an account rests as long as it has many entries', () => {
  const accounts = new Accounts(() => false);
  const account = resting(accounts, 1, 7);
  const owned = ownedOf(accounts, 1);
  accounts.countAnew();
  expect(owned.accounts.size).toBe(1);
  // Its first entries since then do not yet say that it has many.
  expect(take(accounts, 1)).toBe(account);
  accounts.count(account, 1);
  accounts.release(account);
  expect(accounts.resting.has(account)).toBe(true);
  accounts.countAnew();
  expect(owned.accounts.size).toBe(0);
});

test('a removed shard has no turns, and its accounts are not released', () => {
  const { accounts, backlog } = backlogOf(2);
  const busy = take(accounts, 65);
  expect(accounts.remove(shardOf(idOf(1))).map(({ isRemoved }) => isRemoved)).toEqual([true, true]);
  accounts.release(busy);
  expect(idsOf(accounts.takeTurns(100, one))).toEqual([2]);
  expect(backlog.map(({ isRemoved }) => isRemoved)).toEqual([true, false]);
  expect(accounts.size).toBe(1);
});
