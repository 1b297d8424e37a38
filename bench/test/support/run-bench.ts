import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';

export const root = join(import.meta.dirname, '../../..');

/** Guards against hanging only. */
export const timeoutMs = 1_200_000;

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Never rejects. */
export async function execute(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = root) {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  return promisify(execFile)(program, args, options).then(
    ({ stdout, stderr }): Outcome => ({ code: 0, stdout, stderr }),
    (error: Outcome) => error,
  );
}

export const bench = (...args: string[]): Promise<Outcome> => execute('node', ['scripts/bench.ts', ...args]);

/** The report of a quick run. */
export async function reportOf(name: string, ...options: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await bench(name, '--quick', '--json', ...options);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

export const positive: unknown = expect.toSatisfy((value: unknown) => Number.isFinite(value) && Number(value) > 0);

/** What a report says of the machine. */
export const machine = {
  node: process.version,
  platform: expect.any(String),
  cpu: expect.any(String),
  cores: positive,
};
