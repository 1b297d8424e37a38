import { parseArgs, type ParseArgsConfig } from 'node:util';

/** A command line is not valid. The message names the argument and the help. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * The values of options.
 *
 * @param command as the user writes it
 * @throws {UsageError} for an unknown option and for any other argument
 */
export function parseOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(
  command: string,
  options: Options,
  commandArguments: readonly string[],
): ReturnType<typeof parseArgs<{ options: Options }>>['values'] {
  try {
    return parseArgs({ args: [...commandArguments], options }).values;
  } catch (cause) {
    // Node appends advice about positional arguments, which these commands do not have.
    const [problem = ''] = cause instanceof Error ? cause.message.split('. ') : [];
    throw new UsageError(`${problem.replace(/\.$/, '')}. \`${command} --help\` lists the options.`, { cause });
  }
}
