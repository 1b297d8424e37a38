import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Store } from '@deedwire/store';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { waitForWorkers } from './wait-for-workers.ts';

// `vi.mock` has no effect on a module that an earlier file of this process has loaded.
beforeAll(() => {
  vi.spyOn(timers, 'setTimeout').mockResolvedValue(undefined);
  syncBuiltinESMExports();
});
afterAll(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

test.each([
  [5, 11],
  [15, 21],
])('with a longest timeout of %i s, an erasure waits %i s for requests in flight', async (seconds, waitedSeconds) => {
  const query = async ({ text }: { text: string }) => (text.includes('timeout_seconds') ? [{ seconds }] : []);
  const transaction: Store['transaction'] = (work) => work({ query, notifyAfterCommit() {} } as never);
  const delivery = { id: '1', subscriptionId: '1', isErased: false };
  const progress: string[] = [];
  const onProgress = (text: string) => void progress.push(text);
  await waitForWorkers({ store: { query, transaction } } as never, [delivery] as never, onProgress);
  expect(progress).toEqual(Array.from({ length: waitedSeconds }, () => 'Waiting for requests in flight'));
});
