import { expect, test } from 'vitest';
import { comparePositions } from './position.ts';

test('orders by time, then by number, including of numbers that JavaScript would round', () => {
  const positions = [
    { atMs: 1, number: '9007199254740993' },
    { atMs: 2, number: '9' },
    { atMs: 2, number: '10' },
    { atMs: 2, number: '9007199254740992' },
    { atMs: 2, number: '9007199254740993' },
  ];
  expect(positions.toReversed().toSorted(comparePositions)).toEqual(positions);
  expect(comparePositions({ atMs: 1, number: '10' }, { atMs: 1, number: '10' })).toBe(0);
});
