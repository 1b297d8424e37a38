import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { retiredEventVersions } from './worker.ts';

test('returns no version while none is retired', () => {
  expect(retiredEventVersions(testService, new Date('2026-11-20T00:00:00Z'))).toEqual([]);
});
