/** The command line is invalid. The message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  /** @param command the command whose help explains the usage. Null for the overview. */
  constructor(command: string | null, problem: string) {
    const name = command === null ? 'contract-check' : `contract-check ${command}`;
    super(`${name}: ${problem.replaceAll(/\s+/g, ' ')}. See ${name} --help.`);
  }
}
