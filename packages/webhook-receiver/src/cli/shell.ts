import { parseArgs, type ParseArgsConfig } from 'node:util';
import { field, messageOf } from '../field.ts';

export interface Shell {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
  /** Whether the output is a terminal that shows colors. */
  readonly hasColors: boolean;
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Values that no output may contain. A command adds what it reads from files. */
  readonly hidden: Set<string>;
  out(text: string): void;
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

/** Of the commands that read secrets or credentials. Those that also send requests have `allow-remote`. */
export const secretOptions = ['env-file', 'secret-file'] as const;

interface Parsed<Text extends string, Flag extends string> {
  readonly values: { readonly [Name in Text]?: string } & { readonly [Name in Flag]?: boolean };
  readonly positionals: readonly string[];
  /** All values of an option that can be repeated. */
  readonly all: (name: Text) => string[];
}

/**
 * @param texts options with a value
 * @param flags options without one
 * @throws {UsageError} if the command has no such option, or an option has no value
 */
export function parse<const Text extends string, const Flag extends string = never>(
  args: readonly string[],
  texts: readonly Text[],
  flags: readonly Flag[] = [],
): Parsed<Text, Flag> {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const name of texts) options[name] = { type: 'string' };
  for (const name of flags) options[name] = { type: 'boolean' };
  try {
    const config = { args: [...args], allowPositionals: true, tokens: true, options } as const;
    const { values, positionals, tokens } = parseArgs(config);
    const all = (name: Text): string[] =>
      tokens.flatMap((token) => (token.kind === 'option' && token.name === name ? [token.value ?? ''] : []));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `options` have these types
    return { values: values as Parsed<Text, Flag>['values'], positionals, all };
  } catch (error) {
    throw new UsageError(`${messageOf(error).split(/\.(?:\s|$)/)[0]}. --help prints all options.`, { cause: error });
  }
}

export function isKeyOf<Of extends object>(object: Of, name: PropertyKey): name is keyof Of {
  return Object.hasOwn(object, name);
}

/** A malformed name or URL is a wrong call. */
export function checked<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw field(error, 'name') === 'TypeError' ? new UsageError(messageOf(error), { cause: error }) : error;
  }
}
