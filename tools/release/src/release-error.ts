import type { CommandResult } from '@deedwire/checks';

/** A version cannot be cut or published. The message states the reason and the remedy. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

/**
 * The result of a command that succeeded.
 *
 * @throws {ReleaseError} with the problem and the output of the command, if it failed
 */
export async function succeed<Result extends CommandResult>(
  problem: string,
  command: Promise<Result>,
): Promise<Result> {
  const result = await command;
  if (!result.succeeded) throw new ReleaseError(`${problem}:\n${result.output.trim()}`);
  return result;
}
