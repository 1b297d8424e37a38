import { expect, test } from 'vitest';
import { OperationPauses } from './operation-pauses.ts';

function setUp(resume: () => void | Promise<void> = () => {}) {
  const calls: string[] = [];
  const pauses = new OperationPauses();
  pauses.add({ pause: () => calls.push('pause 1'), resume: () => void calls.push('resume 1') });
  pauses.add({
    pause: () => calls.push('pause 2'),
    resume() {
      calls.push('resume 2');
      return resume();
    },
  });
  return { calls, pauses };
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

test('what an operation occupies is paused during a wait', async () => {
  const { calls, pauses } = setUp();
  const { promise, resolve } = Promise.withResolvers<void>();
  const during = pauses.during(() => promise);
  expect([calls, pauses.canWait]).toEqual([['pause 1', 'pause 2'], false]);
  resolve();
  await during;
  expect([calls, pauses.canWait]).toEqual([['pause 1', 'pause 2', 'resume 1', 'resume 2'], true]);
});

test('a wait ends when it is released', async () => {
  const { calls, pauses } = setUp();
  const during = pauses.during(untilAborted);
  pauses.release();
  await during;
  expect(calls).toEqual(['pause 1', 'pause 2', 'resume 1', 'resume 2']);
});

test('a wait of an operation that is over ends, and nothing resumes', async () => {
  const { calls, pauses } = setUp();
  const during = pauses.during(untilAborted);
  pauses.end();
  await during;
  expect([calls, pauses.canWait]).toEqual([['pause 1', 'pause 2'], false]);
});

test('fails if what it occupied is not free', async () => {
  const { pauses } = setUp(() => Promise.reject(new Error('No slot.')));
  await expect(pauses.during(async () => {})).rejects.toThrow('No slot.');
});
