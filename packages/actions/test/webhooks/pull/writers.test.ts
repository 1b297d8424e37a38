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
