import { parseArgs, type ParseArgsConfig } from 'node:util';
import { field, messageOf } from '../field.ts';

/** What a command has of its process. */
export interface Shell {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
  /** Whether the output is a terminal that shows colors. */
  readonly hasColors: boolean;
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Values that no output may contain. A command adds what it reads from files. */
  readonly hidden: Set<string>;
  /** Writes to standard output. */
  out(text: string): void;
  /** Writes to standard error. */
  err(text: string): void;
}

/** Why a command ends. The message has one line and tells the user what to change. */
export class CommandError extends Error {
  readonly exitCode: number;

  /** @param exitCode 1: refused or not found, 2: wrong usage, 3: credentials, 4: the API is unavailable */
  constructor(message: string, exitCode = 1, options: { cause?: unknown } = {}) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The command was called in a wrong way, or a file or a variable that it needs is missing. */
export class UsageError extends CommandError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, 2, options);
  }
}

/** Options with a value, options that can be repeated, and options without a value. */
export const valued: { readonly type: 'string' } = { type: 'string' };
export const listed: { readonly type: 'string'; readonly multiple: true } = { type: 'string', multiple: true };
export const flag: { readonly type: 'boolean' } = { type: 'boolean' };
type SecretOption = 'env-file' | 'secret-file';
/** Of the commands that read secrets or credentials, and of those that also send requests. */
export const secretOptions: Record<SecretOption, typeof valued> = { 'env-file': valued, 'secret-file': valued };
export const sendOptions: { 'allow-remote': typeof flag } & typeof secretOptions = {
  'allow-remote': flag,
  ...secretOptions,
};

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<Of extends Options> = ReturnType<typeof parseArgs<{ args: string[]; allowPositionals: true; options: Of }>>;

/** @throws {UsageError} if the command has no such option, or an option has no value */
export function parse<const Of extends Options>(args: readonly string[], options: Of): Parsed<Of> {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(`${messageOf(error).split(/\.(?:\s|$)/)[0]}. --help prints all options.`, { cause: error });
  }
}

/** A malformed name or URL is a wrong call. */
export function checked<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw field(error, 'name') === 'TypeError' ? new UsageError(messageOf(error), { cause: error }) : error;
  }
}
