import { expect, test } from 'vitest';
import { EntryList } from './entry-list.ts';
import { queueEntry } from './queue-entry.ts';

const entry = (position: number) => queueEntry(position, null, null, 0);

function listOf(...positions: number[]): EntryList {
  const list = new EntryList();
  for (const position of positions) list.add(entry(position));
  return list;
}

function take(list: EntryList, count = Infinity): number[] {
  const positions: number[] = [];
  while (positions.length < count && list.size > 0) positions.push(list.removeFirst()?.position ?? 0);
  return positions;
}

test('keeps the order of positions for entries added in any order', () => {
  const list = listOf(5, 9, 7, 1, 8);
  expect(take(list, 2)).toEqual([1, 5]);
  list.add(entry(6));
  list.add(entry(2));
  expect(take(list)).toEqual([2, 6, 7, 8, 9]);
  expect(list.removeFirst()).toBeUndefined();
});

test('restores claimed entries in front of the others', () => {
  const list = listOf(1, 2, 3, 4);
  const claimed = [list.removeFirst(), list.removeFirst()].filter((value) => value !== undefined);
  list.add(entry(5));
  list.restore(claimed);
  expect(take(list)).toEqual([1, 2, 3, 4, 5]);
});

test('restores entries among those that became visible late', () => {
  const list = listOf(3, 6);
  const claimed = [list.removeFirst(), list.removeFirst()].filter((value) => value !== undefined);
  list.add(entry(4));
  list.restore(claimed);
  expect(take(list)).toEqual([3, 4, 6]);
});

test('cuts off the last entries', () => {
  const list = listOf(1, 2, 3, 4, 5);
  list.removeFirst();
  expect(list.cutTo(2).map(({ position }) => position)).toEqual([4, 5]);
  expect(take(list)).toEqual([2, 3]);
});

test('removes 100,000 entries in order', () => {
  const list = new EntryList();
  for (let position = 1; position <= 100_000; position += 1) list.add(entry(position));
  const positions = take(list);
  expect(positions).toHaveLength(100_000);
  expect(positions.every((position, index) => position === index + 1)).toBe(true);
});
