import type { z } from 'zod';

/** The configuration cannot be used. The message lists every problem, one to a line, and holds no value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'CONFIG_INVALID';
  /** One sentence for each problem, beginning with the name of the variable. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration cannot be used:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads a process's configuration from its environment variables. A variable that is set to nothing counts as not set.
 *
 * @throws {ConfigError} naming every variable that is missing or wrong, never its value.
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
