/** The command line is invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The command whose help to print. Null for the overview. */
  readonly command: string | null;

  constructor(command: string | null, problem: string) {
    super(problem);
    this.command = command;
  }
}
