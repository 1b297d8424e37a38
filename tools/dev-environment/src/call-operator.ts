import { Readable } from 'node:stream';
import { runOperator } from '@deedwire/operator-cli/run-operator';

export interface OperatorResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs `deedwire-operator` in this process. Its environment is `env` only, and its standard input is empty. */
export function callOperator(env: Environment, ...commandArguments: string[]): Promise<OperatorResult> {
  return callOperatorWithInput(env, new Uint8Array(), ...commandArguments);
}

/** As `callOperator`, with a standard input. */
export async function callOperatorWithInput(
  env: Environment,
  input: Uint8Array,
  ...commandArguments: string[]
): Promise<OperatorResult> {
  const output = { stdout: '', stderr: '' };
  const collect = (stream: keyof typeof output) => ({
    write(text: string, done?: () => void) {
      output[stream] += text;
      done?.();
    },
  });
  const stdin = Readable.from(input.length === 0 ? [] : [input]);
  const shell = { env, stdin, stdout: collect('stdout'), stderr: collect('stderr') };
  const exitCode = await runOperator(shell, commandArguments);
  return { exitCode, ...output };
}
