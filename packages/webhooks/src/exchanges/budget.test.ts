import { expect, test } from 'vitest';
import { Budget } from './kept-attempts.ts';

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
