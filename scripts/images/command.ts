import { run as runTool, workspaceRoot } from '../../tools/checks/src/run.ts';

/** A command failed. The message contains its output. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/**
 * Runs a command in the workspace and returns its standard output.
 *
 * @throws {CommandError} if it does not exist or fails
 */
export async function run(
  command: string,
  commandArguments: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<string> {
  const { succeeded, stdout, output } = await runTool(command, commandArguments, workspaceRoot, env);
  if (succeeded) return stdout;
  throw new CommandError(`${command} ${commandArguments.join(' ')} failed: ${output.trim()}`);
}
