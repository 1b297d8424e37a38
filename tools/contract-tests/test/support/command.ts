import { execFile } from 'node:child_process';

export interface CommandOptions {
  cwd: string;
  /** Added to the environment of this process. */
  env?: Readonly<Record<string, string>>;
}

// Only guards against hanging.
const timeoutMs = 1_200_000;

/** Runs a command and resolves with its standard output. Rejects with its complete output if it does not exit with 0. */
export function succeed(file: string, args: readonly string[], { cwd, env = {} }: CommandOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      file,
      args,
      { cwd, env: { ...process.env, ...env }, timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024 },
      (cause, stdout, stderr) => {
        if (cause === null) resolve(stdout);
        else reject(new Error(`${file} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause }));
      },
    );
  });
}
