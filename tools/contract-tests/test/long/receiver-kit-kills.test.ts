import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { replaceUnderLoad } from '../support/receiver-kit/replace-under-load.ts';

let t: TestSystem;

beforeAll(async () => {
  t = await startTestSystem();
});

afterAll(() => t.close());

test('a receiver whose processes are killed at 20 random points has one effect for each event', async () => {
  const { ends, events, started } = await replaceUnderLoad(t, { signal: 'SIGKILL', times: 20 });
  expect(ends).toEqual(Array.from({ length: 20 }, () => ({ exitCode: null, signal: 'SIGKILL' })));
  // Some were killed in the middle of a handler.
  expect(started).toBeGreaterThan(events);
  process.stdout.write(`${JSON.stringify({ events, started })}\n`);
});
