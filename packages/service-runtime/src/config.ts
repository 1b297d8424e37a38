import type { z } from 'zod';

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
 * Reads a process's configuration from its environment variables. An empty variable counts as not set.
 *
 * @throws {ConfigError} if a variable is missing or invalid. Lists all of them, without their values.
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const given: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = env[name]?.trim();
    if (value !== undefined && value !== '') given[name] = value;
  }
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw new ConfigError(
    result.error.issues.map((issue) => {
      const name = issue.path.map(String).join('.');
      return `${name} ${name in given ? issue.message : 'is required'}`;
    }),
  );
}
