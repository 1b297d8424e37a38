/**
 * What was given cannot be read as what it should be. The message is complete and names the place, as far as it is
 * known: `file:line: what is wrong`.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly code = 'CONTRACT_INPUT_INVALID';
  /** The file as it was named by the caller. */
  readonly file: string;
  /** Counted from 1. Null when the file cannot be read at all, or the place is not known. */
  readonly line: number | null;

  constructor(file: string, line: number | null, problem: string, options?: ErrorOptions) {
    super(line === null ? `${file}: ${problem}` : `${file}:${line}: ${problem}`, options);
    this.file = file;
    this.line = line;
  }
}

/**
 * Runs what recurses with the depth of its input. A stack that runs over is the input's fault and is said so, not a
 * crash.
 */
export function withinStack<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new InputError(file, null, 'is nested too deeply', { cause: error });
    throw error;
  }
}
