import { expect, test } from 'vitest';
import { createProgress } from './progress.ts';

function run(isTTY: boolean | undefined, times: number[]): string {
  let written = '';
  const stderr = { write: (text: string) => (written += text), ...(isTTY !== undefined && { isTTY }) };
  let nowMs = 0;
  const progress = createProgress({ stderr }, () => nowMs);
  for (const time of times) {
    nowMs = time;
    progress.report(`${time} lines`);
  }
  progress.end();
  return written;
}

test('shows progress in a terminal after 2 s, twice a second, and removes it', () => {
  expect(run(true, [0, 1_999, 2_000, 2_001, 2_499, 2_500])).toBe('\r\u001B[K2000 lines\r\u001B[K2500 lines\r\u001B[K');
  expect(run(true, [0, 1_999])).toBe('');
});

test('shows nothing outside of a terminal', () => {
  expect(run(undefined, [5_000])).toBe('');
  expect(run(false, [5_000])).toBe('');
});
