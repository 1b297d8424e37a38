import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { replaceUnderLoad } from './support/receiver-kit/replace-under-load.ts';

// The short run. `test/full/receiver-kit.test.ts` has the other tests of the receiver kit on a running system.
let t: TestSystem;

beforeAll(async () => {
  t = await startTestSystem();
});

afterAll(() => t.close());

test('a receiver whose processes are killed has one effect for each event', { timeout: 300_000 }, async () => {
  const { ends } = await replaceUnderLoad(t, { signal: 'SIGKILL', times: 3 });
  expect(ends).toEqual(Array.from({ length: 3 }, () => ({ exitCode: null, signal: 'SIGKILL' })));
});
