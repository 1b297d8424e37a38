/** The command line is not one that is understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** Whose help to show; null: that of the whole. */
  readonly command: string | null;

  constructor(command: string | null, problem: string) {
    super(problem);
    this.command = command;
  }
}
