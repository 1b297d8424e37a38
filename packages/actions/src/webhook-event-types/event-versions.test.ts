import { expect, test } from 'vitest';
import { retiredEventVersions } from './event-versions.ts';

test('no event version is retired yet', () => {
  expect(retiredEventVersions(new Date('2026-11-20T00:00:00Z'))).toEqual([]);
});
