import { execFile } from 'node:child_process';
import { join } from 'node:path';

export const workspaceRoot = join(import.meta.dirname, '../..');

/** A command failed. The message contains its output. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/**
 * Runs a command in the workspace and returns its standard output.
 *
 * @throws {CommandError} if it does not exist or fails
 */
export function run(
  command: string,
  commandArguments: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const inherited = process.env;
  const options = {
    cwd: workspaceRoot,
    env: { ...inherited, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', ...env },
    maxBuffer: 2 ** 26,
  };
  return new Promise((resolve, reject) => {
    execFile(command, commandArguments, options, (cause, stdout, stderr) => {
      if (cause === null) {
        resolve(stdout);
        return;
      }
      const reason = cause.code === 'ENOENT' ? 'it is not installed' : `${stdout}${stderr}`.trim();
      reject(new CommandError(`${command} ${commandArguments.join(' ')} failed: ${reason}`, { cause }));
    });
  });
}
