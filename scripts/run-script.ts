import { parseArgs, type ParseArgsConfig } from 'node:util';
import { endWithReader } from './end-with-reader.ts';

// This module needs Node only: `publish-release.ts` runs where no dependencies are installed.

/** A script was called in a wrong way. Its help follows the message. */
export class UsageError extends Error {}

/** Prints a line. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

interface Script<Options extends NonNullable<ParseArgsConfig['options']>> {
  /** Printed for `--help`. */
  readonly help: string;
  /** Without `help`. */
  readonly options: Options;
  /** Whether it has arguments besides its options. */
  readonly takesArguments?: boolean;
  /** What `main` throws if a check or a step fails. The message says all that the user has to know. */
  readonly failure?: abstract new (...parameters: never[]) => Error;
  readonly main: (
    values: ReturnType<typeof parseArgs<{ options: Options }>>['values'],
    positionals: readonly string[],
  ) => Promise<void>;
}

/**
 * Runs a script with the arguments of the process. Its exit code is 0, 1 after a failure, or 2 after a wrong call: an unknown option, or
 * a `UsageError` of `main`.
 */
export async function runScript<const Options extends NonNullable<ParseArgsConfig['options']>>({
  help,
  options,
  takesArguments = false,
  failure,
  main,
}: Script<Options>): Promise<void> {
  endWithReader();
  try {
    const { values, positionals } = readArguments(options, takesArguments);
    if ('help' in values) process.stdout.write(help);
    else await main(values, positionals);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    if (!isUsage && !(failure !== undefined && error instanceof failure)) throw error;
    process.stderr.write(
      isUsage ? [error.message, help].filter((text) => text !== '').join('\n\n') : `${error.message}\n`,
    );
    process.exitCode = isUsage ? 2 : 1;
  }
}

function readArguments<Options extends NonNullable<ParseArgsConfig['options']>>(
  options: Options,
  allowPositionals: boolean,
) {
  try {
    return parseArgs({ options: { ...options, help: { type: 'boolean' } }, allowPositionals });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
