import { Readable } from 'node:stream';
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

/** Runs the command in this process. */
export async function call(
  args: readonly string[],
  { env = {}, input = '', signal, hasColors = false, onOut }: Surroundings = {},
): Promise<CallResult> {
  const written = { stdout: '', stderr: '' };
  const exitCode = await main(args, {
    env,
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
  return { exitCode, ...written };
}
