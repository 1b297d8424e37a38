import { runOperator } from './run-operator.ts';
import type { Surroundings } from './shell.ts';

/**
 * Runs a command in this process, whose exit code it sets.
 *
 * @param load loads the application, whose faults are reported as those of a command
 * @param build what the command line registers itself as
 * @param commandArguments without the name of the program
 */
export async function runOperatorProcess(
  load: Parameters<typeof runOperator>[0],
  build: Surroundings['build'],
  commandArguments: readonly string[],
): Promise<void> {
  const { env, stdin, stdout, stderr } = process;
  /** What it changes, it finishes, even if nothing reads its output. */
  const isChange = commandArguments.includes('--yes');
  stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader has all that it wants, for example `head`. SIGPIPE, which Node ignores, ends other programs with this code.
    if (code === 'EPIPE') process.exitCode ||= 141;
    else {
      stderr.write(`error: The result cannot be written: ${message}. If the command changes something, it has.\n`);
      process.exitCode ||= 1;
    }
    if (!isChange) process.exit();
  });
  stderr.on('error', () => {});
  process.exitCode =
    (await runOperator(load, { env, stdin, stdout, stderr, build }, commandArguments)) || process.exitCode;
}
