import { toRecordId } from '@deedwire/domain';
import { expect, test } from 'vitest';
import type { AccountId } from '../kernel/ids.ts';
import { KnownEntries } from './known-entries.ts';
import type { QueuedAccount } from './queued-account.ts';

/** Both belong to shard 0. */
const busy: AccountId = toRecordId('64');
const quiet: AccountId = toRecordId('128');

const row = (position: number, accountId: AccountId) => ({
  position,
  accountId,
  eventId: toRecordId<'WebhookEvent'>(String(position)),
  subscriptionId: null,
  claims: 0,
});

function addAll(known: KnownEntries, accountId: AccountId, from: number, to: number): void {
  for (let position = from; position <= to; position += 1) known.add(row(position, accountId), true);
}

function accountOf(known: KnownEntries, id: AccountId): QueuedAccount {
  for (const account of known.accounts) if (account.id === id) return account;
  throw new Error(`Account ${id} is not known.`);
}

function finishFirst(known: KnownEntries, account: QueuedAccount): number {
  const entry = account.waiting.removeFirst();
  if (entry === undefined) throw new Error('No entry waits.');
  account.claimed += 1;
  known.finish(account, entry);
  return entry.position;
}

test('adds a row once', () => {
  const known = new KnownEntries(100);
  expect(known.add(row(1, busy), true)?.id).toBe(busy);
  expect(known.add(row(1, busy), true)).toBeNull();
  expect(known.size).toBe(1);
});

test('a read that began before an entry was finished does not add it again', () => {
  const known = new KnownEntries(100);
  addAll(known, busy, 1, 1);
  known.readStarted();
  finishFirst(known, accountOf(known, busy));
  expect(known.add(row(1, busy), true)).toBeNull();
  known.readEnded();
  expect(known.size).toBe(0);
});

test('keeps at most the configured number of entries, with room for accounts that have few', () => {
  const known = new KnownEntries(1_000);
  addAll(known, busy, 1, 100_000);
  expect(known.size).toBeLessThanOrEqual(1_000);
  expect(known.add(row(100_001, quiet), true)?.id).toBe(quiet);
  expect(known.size).toBeLessThanOrEqual(1_000);
});

test('reads dropped entries again in order, without gaps, when few are left', () => {
  const known = new KnownEntries(1_000);
  addAll(known, busy, 1, 5_000);
  const account = accountOf(known, busy);
  const finished: number[] = [];
  while (finished.length < 5_000) {
    while (account.waiting.size > 0) finished.push(finishFirst(known, account));
    const unread = known.unreadByShard().get(0);
    if (unread === undefined) break;
    expect(unread.after).toBe(finished.at(-1));
    const last = Math.min(unread.after + 300, 5_000);
    for (const read of unread.accounts) expect(known.wasRead(read, last === 5_000 ? null : last)).toBe(true);
    addAll(known, busy, unread.after + 1, last);
  }
  expect(finished).toEqual(Array.from({ length: 5_000 }, (_, index) => index + 1));
});

test('an entry is not claimed before an unread one that precedes it', () => {
  const known = new KnownEntries(100);
  addAll(known, busy, 1, 3);
  const account = accountOf(known, busy);
  const first = account.waiting.removeFirst();
  account.claimed += 1;
  if (first !== undefined) known.forget(account, [first]);
  expect(account.waiting.size).toBe(0);
  expect(known.add(row(4, busy), true)).toBeNull();
  const unread = known.unreadByShard().get(0);
  expect(unread?.after).toBe(0);
  for (const read of unread?.accounts ?? []) known.wasRead(read, null);
  addAll(known, busy, 2, 4);
  expect(account.waiting.first?.position).toBe(2);
});

test('a read that began before entries were dropped does not mark them as read', () => {
  const known = new KnownEntries(100);
  addAll(known, busy, 1, 2);
  const account = accountOf(known, busy);
  known.forget(account, []);
  const [read] = known.unreadByShard().get(0)?.accounts ?? [];
  known.forget(account, []);
  expect(read !== undefined && known.wasRead(read, null)).toBe(false);
  expect(account.unreadFrom).toBe(1);
});

test('a read that began before an entry was unblocked does not mark the entry as read', () => {
  const known = new KnownEntries(100);
  addAll(known, busy, 1, 1_000);
  const account = accountOf(known, busy);
  while (account.waiting.size > 0) finishFirst(known, account);
  const [read] = known.unreadByShard().get(0)?.accounts ?? [];
  known.readStarted();
  expect(known.addUnblocked(row(2_000, busy))).toBeNull();
  expect(read !== undefined && known.wasRead(read, null)).toBe(false);
  expect(account.unreadFrom).toBeLessThan(1_000);
});

test('an entry that was blocked and unblocked during a read is added', () => {
  const known = new KnownEntries(100);
  addAll(known, busy, 1, 1);
  known.readStarted();
  finishFirst(known, accountOf(known, busy));
  expect(known.addUnblocked(row(1, busy))?.id).toBe(busy);
  expect(known.addUnblocked(row(1, busy))).toBeNull();
  expect(known.size).toBe(1);
});

const changeOf = (position: number, accountId: AccountId) => ({
  ...row(position, accountId),
  eventId: null,
  subscriptionId: toRecordId<'WebhookSubscription'>(String(position)),
});

test('a change is added although earlier entries of the account are unread', () => {
  const known = new KnownEntries(100);
  addAll(known, busy, 1, 1_000);
  expect(known.add(changeOf(1_001, busy), true)?.id).toBe(busy);
});

test('changes do not fill memory, however many an account has', () => {
  const known = new KnownEntries(100);
  addAll(known, busy, 1, 1_000);
  const positions = Array.from({ length: 1_000 }, (_, index) => 1_001 + index);
  const added = positions.filter((position) => known.add(changeOf(position, busy), true) !== null);
  expect(added).toHaveLength(64);
  expect(known.size).toBeLessThanOrEqual(100 + 64);
  const account = accountOf(known, busy);
  while (account.waiting.size > 0) finishFirst(known, account);
  expect(known.add(changeOf(3_000, busy), true)?.id).toBe(busy);
});

/** Fills memory with accounts that have too few entries to drop any, and returns them. */
function fillWithFew(known: KnownEntries): QueuedAccount[] {
  for (let account = 3; account <= 10; account += 1) {
    addAll(known, toRecordId(String(64 * account)), 100 * account, 100 * account + 7);
  }
  expect(known.isFull).toBe(true);
  return [...known.accounts];
}

test('while memory is full, no account is read again, because its entries would be dropped again', () => {
  const known = new KnownEntries(64);
  const [account] = fillWithFew(known);
  expect(known.add(row(2_000, quiet), true)).toBeNull();
  expect(known.unreadByShard().size).toBe(0);
  if (account !== undefined) finishFirst(known, account);
  expect([...known.unreadByShard().keys()]).toEqual([0]);
});

test('memory that was full of accounts with few entries later makes room by dropping those of a busy account', () => {
  const known = new KnownEntries(64);
  const accounts = fillWithFew(known);
  expect(known.add(row(2_000, quiet), true)).toBeNull();
  for (const account of accounts) while (account.waiting.size > 0) finishFirst(known, account);
  known.readStarted();
  addAll(known, busy, 3_000, 4_000);
  expect(known.add(row(5_000, toRecordId('192')), true)).not.toBeNull();
});

test('drops all entries of a shard', () => {
  const known = new KnownEntries(100);
  addAll(known, busy, 1, 10);
  const account = accountOf(known, busy);
  const claimed = account.waiting.removeFirst();
  account.claimed += 1;
  expect(known.removeShard(0)).toEqual([account]);
  expect(known.size).toBe(1);
  if (claimed !== undefined) known.restore(account, [claimed]);
  expect(known.size).toBe(0);
  expect([...known.accounts]).toEqual([]);
});
