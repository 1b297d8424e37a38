import { startPostgres } from '@deedwire/embedded-postgres';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { provePages } from './prove-pages.ts';

const server = await forFile(startPostgres());

/** `PHASE_MS=8000` is a longer run. */
const phaseMs = Number(process.env['PHASE_MS'] ?? 400);

test('pages of three writers at a time have every number once, whatever happens meanwhile', async () => {
  const { read, readIds, stored, refusals, ...counts } = await provePages({ server, phaseMs, seed: 1 });
  expect(refusals).toEqual([]);
  expect(read).toEqual(stored.map((_, index) => index + 1));
  expect(readIds).toEqual(stored);
  // Everything that should happen did.
  expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
});

test('the proof notices a delivery that is missing', async () => {
  const { refusals, read, stored } = await provePages({ server, phaseMs: 100, seed: 2, fault: 'deleted' });
  // By each reader that was not past it.
  expect(new Set(refusals.map((refusal) => refusal.replace(/\d+$/, '')))).toEqual(new Set(['missing after ']));
  expect(read.length).toBeLessThan(stored.length);
});

test.each(['overlooked', 'repeated'] as const)('the proof notices a delivery that is %s', async (fault) => {
  const { read, stored, refusals } = await provePages({ server, phaseMs: 100, seed: 3, fault });
  expect(refusals).toEqual([]);
  expect(read).not.toEqual(stored.map((_, index) => index + 1));
  expect(Math.abs(read.length - stored.length)).toBe(1);
});
