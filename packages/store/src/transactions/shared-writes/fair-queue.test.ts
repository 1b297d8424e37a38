import { type AccountId, toRecordId } from '@deedwire/core';
import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

interface Item {
  accountId: AccountId;
  clientId: string;
  number: number;
}

const item = (account: number, clientId: string, number: number): Item => ({
  accountId: toRecordId(String(account)),
  clientId,
  number,
});

function takeAll(turns: FairQueue<Item>): string[] {
  const taken: string[] = [];
  for (let next = turns.take(); next !== undefined; next = turns.take()) {
    taken.push(`${next.accountId}${next.clientId}${next.number}`);
  }
  return taken;
}

test('accounts take turns, and the clients of an account, each first in, first out', () => {
  const turns = new FairQueue<Item>();
  for (let number = 1; number <= 4; number += 1) turns.add(item(1, 'a', number));
  turns.add(item(1, 'b', 1));
  turns.add(item(2, 'c', 1));
  turns.add(item(2, 'c', 2));
  expect(turns.accounts).toBe(2);
  expect(takeAll(turns)).toEqual(['1a1', '2c1', '1b1', '2c2', '1a2', '1a3', '1a4']);
  expect(turns.accounts).toBe(0);
});

test('a single write of another client is among the next three, whatever a client has waiting', () => {
  const turns = new FairQueue<Item>();
  for (let number = 1; number <= 1_000; number += 1) turns.add(item(1, 'a', number));
  for (let number = 1; number <= 500; number += 1) turns.take();
  turns.add(item(1, 'b', 1));
  turns.add(item(2, 'c', 1));
  const next = new Set([turns.take(), turns.take(), turns.take()].map((taken) => taken?.clientId));
  expect(next).toEqual(new Set(['a', 'b', 'c']));
});

test('an item that is removed gets no turn', () => {
  const turns = new FairQueue<Item>();
  const items = [item(1, 'a', 1), item(1, 'a', 2), item(2, 'b', 1)] as const;
  for (const each of items) turns.add(each);
  expect(turns.remove(items[1])).toBe(true);
  expect(turns.remove(items[1])).toBe(false);
  expect(turns.remove(items[2])).toBe(true);
  expect(turns.accounts).toBe(1);
  expect(takeAll(turns)).toEqual(['1a1']);
});
