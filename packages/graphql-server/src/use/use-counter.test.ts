import { expect, test } from 'vitest';
import { createUseCounter } from './use-counter.ts';

test('counts by client, version and coordinate, and begins again once the counts are taken', () => {
  const counter = createUseCounter();
  counter.count('a', '2026-11-01', '');
  counter.count('a', '2026-11-01', '');
  counter.count('a', '2026-11-01', 'Query.old');
  counter.count('b', '2027-02-01', '', 5);
  expect(counter.take()).toEqual({
    uses: [
      ['a', '2026-11-01', '', 2],
      ['a', '2026-11-01', 'Query.old', 1],
      ['b', '2027-02-01', '', 5],
    ],
    isOverflowed: false,
  });
  expect(counter.take()).toEqual({ uses: [], isOverflowed: false });
});

test('says that it overflowed, and still counts the keys that it has', () => {
  const counter = createUseCounter(2);
  for (const clientId of ['a', 'b', 'c', 'a']) counter.count(clientId, '2026-11-01', '');
  expect(counter.take()).toEqual({
    uses: [
      ['a', '2026-11-01', '', 2],
      ['b', '2026-11-01', '', 1],
    ],
    isOverflowed: true,
  });
  counter.count('c', '2026-11-01', '');
  expect(counter.take()).toEqual({ uses: [['c', '2026-11-01', '', 1]], isOverflowed: false });
});
