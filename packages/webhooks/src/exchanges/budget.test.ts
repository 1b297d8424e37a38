import { expect, test } from 'vitest';
import { Budget } from './kept-attempts.ts';

test('gives all or nothing, up to its maximum, and restores it over time', () => {
  const budget = new Budget(100, 10);
  expect([budget.take(60, 0), budget.take(60, 0), budget.take(40, 0)]).toEqual([true, false, true]);
  expect([budget.take(10, 900), budget.take(10, 1_000)]).toEqual([false, true]);
  expect([budget.take(101, 1e9), budget.take(100, 1e9)]).toEqual([false, true]);
});

test('takes back what was not needed, up to its maximum', () => {
  const budget = new Budget(100, 10);
  budget.take(100, 0);
  budget.giveBack(30);
  expect([budget.take(31, 0), budget.take(30, 0)]).toEqual([false, true]);
  budget.giveBack(1_000);
  expect(budget.take(101, 0)).toBe(false);
});

test('a clock that stands still or goes back restores nothing', () => {
  const budget = new Budget(10, 1_000);
  budget.take(10, 50);
  expect([budget.take(1, 50), budget.take(1, 0), budget.take(1, 51)]).toEqual([false, false, true]);
});
