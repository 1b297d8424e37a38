import { toRecordId } from '@deedwire/domain';
import { expect, test } from 'vitest';
import { queueEntry } from './queue-entry.ts';
import { QueuedAccount } from './queued-account.ts';
import { passedOverMax, type Turn, Turns } from './turns.ts';

const eventId = toRecordId<'WebhookEvent'>('1');
const subscriptionId = toRecordId<'WebhookSubscription'>('1');
const one = (): number => 1;

function account(id: number, entries: number, claims = 0): QueuedAccount {
  const made = new QueuedAccount(toRecordId(String(id)));
  for (let position = 1; position <= entries; position += 1)
    made.waiting.add(queueEntry(position, eventId, null, claims));
  return made;
}

function turnsOf(
  accounts: readonly QueuedAccount[],
  isBehind: (account: QueuedAccount) => boolean = () => false,
): Turns {
  const turns = new Turns(isBehind);
  for (const placed of accounts) turns.place(placed);
  return turns;
}

function endRound(turns: Turns, round: readonly Turn[]): void {
  for (const { account: ended, entries } of round) {
    ended.claimed -= entries.length;
    ended.ended();
    turns.place(ended);
  }
}

const shapeOf = (round: readonly Turn[]) => round.map(({ account: { id }, entries }) => [Number(id), entries.length]);

test('accounts take turns, and continue where the last round ended', () => {
  const turns = turnsOf([account(1, 100), account(2, 100), account(3, 100)]);
  const first = turns.claimBulk(one, 16);
  expect(shapeOf(first)).toEqual([
    [1, 8],
    [2, 8],
  ]);
  endRound(turns, first);
  expect(shapeOf(turns.claimBulk(one, 29))).toEqual([
    [3, 10],
    [1, 10],
    [2, 9],
  ]);
});

test('a turn in a bulk round is one entry of an account whose events have many deliveries', () => {
  const turns = turnsOf([account(1, 100), account(2, 100), account(3, 100)]);
  expect(shapeOf(turns.claimBulk(({ id }) => (id === '1' ? 20 : 3), 38))).toEqual([
    [1, 1],
    [2, 3],
    [3, 3],
  ]);
});

test('an account is in one round at a time', () => {
  const turns = turnsOf([account(1, 100)]);
  expect(turns.claimBulk(one, 10)).toHaveLength(1);
  expect(turns.claimBulk(one, 10)).toHaveLength(0);
  expect(turns.claimExpress(one, 10)).toHaveLength(0);
});

test('100,000 entries of one account do not delay another by a bulk round', () => {
  const busy = account(1, 100_000);
  const turns = turnsOf([busy]);
  const bulk = turns.claimBulk(one, 1_000);
  const quiet = account(2, 1);
  turns.place(quiet);
  expect(shapeOf(turns.claimExpress(one, 128))).toEqual([[2, 1]]);
  endRound(turns, bulk);
  expect(turns.hasExpress).toBe(false);
});

test('bulk rounds serve the rest of a backlog, even a short one', () => {
  const turns = turnsOf([account(1, 6)]);
  endRound(turns, turns.claimBulk(one, 4));
  turns.place(account(2, 1));
  expect(shapeOf(turns.claimExpress(one, 128))).toEqual([[2, 1]]);
  expect(shapeOf(turns.claimBulk(one, 100))).toEqual([[1, 2]]);
});

test('few entries that arrive during a round of their account do not wait for a bulk round', () => {
  const steady = account(1, 1);
  const turns = turnsOf([steady]);
  const round = turns.claimExpress(one, 128);
  steady.waiting.add(queueEntry(2, eventId, null, 0));
  endRound(turns, round);
  expect(shapeOf(turns.claimExpress(one, 128))).toEqual([[1, 1]]);
});

test('a bulk round with room also claims entries of accounts with few entries', () => {
  const turns = turnsOf([account(1, 2), account(2, 6)]);
  expect(shapeOf(turns.claimBulk(one, 100))).toEqual([
    [2, 6],
    [1, 2],
  ]);
});

test('an entry runs in a separate round after three claims, and its account waits for it', () => {
  const poisoned = account(1, 2, 3);
  const turns = turnsOf([poisoned, account(2, 1)]);
  expect(shapeOf(turns.claimExpress(one, 100))).toEqual([[2, 1]]);
  expect(shapeOf(turns.claimBulk(one, 100))).toEqual([]);
  expect(shapeOf(turns.claimIsolated())).toEqual([[1, 1]]);
});

test('a round stops before a change of a subscription', () => {
  const changing = account(1, 2);
  changing.waiting.add(queueEntry(3, null, subscriptionId, 0));
  changing.waiting.add(queueEntry(4, eventId, null, 0));
  const turns = turnsOf([changing]);
  const round = turns.claimExpress(one, 100);
  expect(shapeOf(round)).toEqual([[1, 2]]);
  endRound(turns, round);
  expect(turns.claimChange()).toBe(changing);
});

test('an account whose lanes have enough is passed over at most 50 times', () => {
  const behind = account(1, 3);
  const turns = turnsOf([behind, account(2, 3)], ({ id }) => id === behind.id);
  expect(shapeOf(turns.claimExpress(one, 100))).toEqual([[2, 3]]);
  expect(turns.hasPassedOver).toBe(true);
  for (let retry = 1; retry < passedOverMax; retry += 1) turns.retryPassedOver();
  expect(turns.claimExpress(one, 100)).toEqual([]);
  turns.retryPassedOver();
  const round = turns.claimExpress(one, 2);
  expect(shapeOf(round)).toEqual([[1, 2]]);
  endRound(turns, round);
  expect(turns.claimBulk(one, 2)).toEqual([]);
  expect(turns.hasPassedOver).toBe(true);
});

test('an account that was passed over gets a turn as soon as its lanes need more', () => {
  const isBehind = { value: true };
  const turns = turnsOf([account(1, 1)], () => isBehind.value);
  expect(turns.claimExpress(one, 100)).toEqual([]);
  isBehind.value = false;
  turns.retryPassedOver();
  expect(shapeOf(turns.claimExpress(one, 100))).toEqual([[1, 1]]);
});

test('an account that backs off gets no turn', () => {
  const paused = account(1, 1);
  const turns = turnsOf([paused]);
  paused.isPaused = true;
  turns.place(paused);
  expect(turns.claimExpress(one, 100)).toEqual([]);
});
