import { appVariables, readConfig } from '@deedwire/service-runtime';
import { z } from 'zod';

const schema = z.object({
  /** Not set: the database of a running `pnpm dev`. */
  DATABASE_URL: appVariables.DATABASE_URL.optional(),
  DATABASE_DIRECT_URL: appVariables.DATABASE_DIRECT_URL,
  /** Where `pnpm dev` keeps its files. Not set: `.local` in the workspace. */
  DEEDWIRE_HOME: z.string().optional(),
  GID_NAMESPACE: appVariables.GID_NAMESPACE,
  SLOW_STATEMENT_MS: appVariables.SLOW_STATEMENT_MS,
});

export type Config = z.output<typeof schema>;

/** @throws ConfigError */
export function readOperatorConfig(): Config {
  // oxlint-disable-next-line node/no-process-env -- the only reader of it in this app
  return readConfig(schema, process.env);
}
