import { runOperator } from '@deedwire/operator-cli/run-operator';

export interface OperatorResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs `deedwire-operator` in this process. Its environment is `env` only. */
export async function callOperator(
  env: Readonly<Record<string, string | undefined>>,
  ...commandArguments: string[]
): Promise<OperatorResult> {
  const output = { stdout: '', stderr: '' };
  const collect = (stream: keyof typeof output) => ({
    write(text: string, done?: () => void) {
      output[stream] += text;
      done?.();
    },
  });
  const exitCode = await runOperator({ env, stdout: collect('stdout'), stderr: collect('stderr') }, commandArguments);
  return { exitCode, ...output };
}
