import { execFile } from 'node:child_process';

export interface CommandOptions {
  cwd: string;
  /** Added to this process' own environment. */
  env?: Readonly<Record<string, string>>;
}

// Generous: a bound against hanging.
const timeoutMs = 240_000;

/** Runs a command and resolves with its standard output. Rejects, with all that it printed, unless it ends with 0. */
export function succeed(file: string, args: readonly string[], { cwd, env = {} }: CommandOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      file,
      args,
      // oxlint-disable-next-line node/no-process-env -- what a command inherits
      { cwd, env: { ...process.env, ...env }, timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024 },
      (cause, stdout, stderr) => {
        if (cause === null) resolve(stdout);
        else reject(new Error(`${file} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause }));
      },
    );
  });
}
