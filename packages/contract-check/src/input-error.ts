/**
 * An input file is missing or invalid. The message is complete and names the place as far as it is known:
 * `file:line: problem`. Each function that reads an input throws it, unless its comment says what it returns instead.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly code = 'CONTRACT_INPUT_INVALID';
  /** The file name that the caller passed. */
  readonly file: string;
  /** Counted from 1. Null when the file cannot be read or the line is unknown. */
  readonly line: number | null;

  constructor(file: string, line: number | null, problem: string, options?: ErrorOptions) {
    super(line === null ? `${file}: ${problem}` : `${file}:${line}: ${problem}`, options);
    this.file = file;
    this.line = line;
  }
}

/** The inputs are valid, but comparing them would take too long, or more of the stack than there is. */
export class TooManyStepsError extends InputError {}

/** @throws {InputError} about a file as a whole. */
export function failAt(file: string, problem: string, options?: ErrorOptions): never {
  throw new InputError(file, null, problem, options);
}

/** What `read` returns. If an input is missing or invalid, what `otherwise` returns for the error: by default, null. */
export function ifValid<T>(read: () => T | null, otherwise: (error: InputError) => T | null = () => null): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof InputError) return otherwise(error);
    throw error;
  }
}

/** Runs a function whose recursion depth depends on the input. */
export function withinStack<T>(file: string, work: () => T, ErrorClass = InputError): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError)
      throw new ErrorClass(file, null, 'is nested too deeply to be compared', { cause: error });
    throw error;
  }
}

/** A field of an error. `instanceof Error` is false for errors of Node in the sandbox of a test runner. */
export function errorField(error: unknown, name: 'code' | 'message' | 'stdout'): string {
  return typeof error === 'object' && error !== null && name in error ? String(Reflect.get(error, name)) : '';
}

/** Node gives no message to the error of a connection to a name whose addresses all failed: it has those of the addresses. */
export function errorMessage(error: unknown): string {
  const errors: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'errors') : null;
  const messages = Array.isArray(errors) ? errors.map(errorMessage).join('; ') : '';
  return errorField(error, 'message') || messages || String(error);
}
