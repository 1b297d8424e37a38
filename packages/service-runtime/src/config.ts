import type { z } from 'zod';
import { readVariable } from './read-variable.ts';

/** The configuration is invalid. The message lists one problem per line and contains no value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'CONFIG_INVALID';
  /** One sentence per problem, beginning with the name of the variable. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration is invalid:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads a process's configuration from its environment variables. An empty variable counts as not set. A variable that
 * contains a secret can also come from the file that `<name>_FILE` names.
 *
 * @throws {ConfigError} if a variable is missing or invalid. Lists all of them, without their values.
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const given: Record<string, string> = {};
  const unreadable = new Map<string, string>();
  for (const name of Object.keys(schema.shape)) {
    const { value, problem } = readVariable(name, env);
    if (value !== null) given[name] = value;
    if (problem !== null) unreadable.set(name, problem);
  }
  const result = schema.safeParse(given);
  if (result.success && unreadable.size === 0) return result.data;
  const issues = result.error?.issues.map((issue) => ({ name: issue.path.map(String).join('.'), issue })) ?? [];
  throw new ConfigError([
    ...unreadable.values(),
    ...issues
      .filter(({ name }) => !unreadable.has(name))
      .map(({ name, issue }) => `${name} ${name in given ? issue.message : 'is required'}`),
  ]);
}
