import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { main } from '../../src/command-line.ts';

export interface CallResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

interface Surroundings {
  env?: Readonly<Record<string, string | undefined>>;
  input?: string | Uint8Array;
  signal?: AbortSignal;
  hasColors?: boolean;
  /** Sees each text of standard output. */
  onOut?: (text: string) => void;
}

/** Runs the command in this process. A message has at most 80 columns: it is returned as one line. */
export async function call(
  args: readonly string[],
  { env = {}, input = '', signal, hasColors = false, onOut }: Surroundings = {},
): Promise<CallResult> {
  const written = { stdout: '', stderr: '' };
  const exitCode = await main(args, {
    env: { HEADER_PREFIX: 'X-Service', ...env },
    stdin: Readable.from([Buffer.from(input)]),
    hasColors,
    signal: signal ?? new AbortController().signal,
    out(text) {
      written.stdout += text;
      onOut?.(text);
    },
    err(text) {
      written.stderr += text;
    },
  });
  // A longer word stays whole.
  expect(written.stderr.split('\n').filter((line) => line.length > 80 && /\S .*\S \S/.test(line))).toEqual([]);
  return { exitCode, stdout: written.stdout, stderr: written.stderr.replaceAll('\n  ', ' ') };
}
