import { Readable } from 'node:stream';
import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { createProgress } from './progress.ts';
import { createShell } from './shell.ts';

interface Options {
  json?: true;
  columns?: number;
}

function run(isTTY: boolean, times: number[], options: Options = {}): { stdout: string; stderr: string } {
  const { columns } = options;
  const written = { stdout: '', stderr: '' };
  const surroundings = {
    env: {},
    stdin: Readable.from([]),
    stdout: { write: (text: string) => (written.stdout += text), isTTY, ...(columns !== undefined && { columns }) },
    stderr: { write: (text: string) => (written.stderr += text), isTTY: true },
    build: { version: '0.0.0', contracts: new URL('contracts.json', import.meta.url) },
  };
  const shell = createShell(testService, surroundings, options.json === true);
  let nowMs = 0;
  const progress = createProgress(shell, options, () => nowMs);
  for (const time of times) {
    nowMs = time;
    progress.report(`${time} lines`);
  }
  progress.end();
  return written;
}

test('shows progress in a terminal after 2 s, twice a second, and removes it', () => {
  const stdout = '\r\u001B[K2000 lines\r\u001B[K2500 lines\r\u001B[K';
  const times = [0, 1_999, 2_000, 2_001, 2_499, 2_500];
  expect(run(true, times)).toEqual({ stdout, stderr: '' });
  expect(run(true, times, { json: true })).toEqual({ stdout, stderr: '' });
  expect(run(true, [0, 1_999])).toEqual({ stdout: '', stderr: '' });
});

test('cuts what would not fit in one line of the terminal, which could not be removed', () => {
  expect(run(true, [2_000], { columns: 8 }).stdout).toBe('\r\u001B[K2000 li\r\u001B[K');
  // The width of a pseudo terminal whose size was never set is 0.
  expect(run(true, [2_000], { columns: 0 }).stdout).toBe('\r\u001B[K2000 lines\r\u001B[K');
});

test('writes plain lines to standard error every 10 s if standard output is no terminal', () => {
  const times = [0, 9_999, 10_000, 10_001, 19_999, 20_000];
  expect(run(false, times)).toEqual({ stdout: '', stderr: '10000 lines\n20000 lines\n' });
});

test('writes no plain lines with --json, whose errors go to standard error', () => {
  expect(run(false, [30_000], { json: true })).toEqual({ stdout: '', stderr: '' });
});
