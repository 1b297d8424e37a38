import { expect, test } from 'vitest';
import { formatDay, formatDuration, formatTime, formatUtc, fromLocalInput, toLocalInput } from './time.ts';

test.each([
  [0, '0 s'],
  [-5, '0 s'],
  [59_400, '59 s'],
  [60_000, '1 min'],
  [18_480_000, '5 h 8 min'],
  [86_400_000 * 3 + 60_000, '3 d'],
])('%i ms are %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('names the day and the year only if they differ', () => {
  const now = new Date(2026, 10, 26, 18, 40, 11).getTime();
  expect(formatTime(now, now)).toBe('18:40:11');
  expect(formatTime(new Date(2026, 10, 25, 7, 5, 9).getTime(), now)).toBe('25 Nov, 07:05:09');
  expect(formatTime(new Date(2025, 10, 25, 0, 5, 9).getTime(), now)).toBe('25 Nov 2025, 00:05:09');
  expect(formatDay('2027-06-01')).toBe('1 June 2027');
  expect(formatUtc(Date.UTC(2026, 10, 26, 18, 40, 11, 7))).toBe('2026-11-26 18:40:11.007 UTC');
});

test('a time survives the input of a form', () => {
  const iso = new Date(2026, 2, 29, 3, 30).toISOString();
  expect(fromLocalInput(toLocalInput(iso))).toBe(iso);
  expect(fromLocalInput('')).toBeNull();
  expect(toLocalInput('never')).toBe('');
});
