import { gidNamespacePattern } from '@deedwire/domain';
import { readConfig, urlVariable } from '@deedwire/service-runtime';
import { z } from 'zod';

const schema = z.object({
  /** Not set: the database of a running `pnpm dev`. */
  DATABASE_URL: urlVariable('postgres', 'postgresql').optional(),
  /** Where DATABASE_URL is a transaction pooler: the server itself, for migrations. */
  DATABASE_DIRECT_URL: urlVariable('postgres', 'postgresql').optional(),
  /** Where `pnpm dev` keeps its files. Not set: `.local` in the workspace. */
  DEEDWIRE_HOME: z.string().optional(),
  GID_NAMESPACE: z
    .string()
    .regex(gidNamespacePattern, 'must be lower-case letters, digits and hyphens, a letter first')
    .default('service'),
});

export type Config = z.output<typeof schema>;

/** @throws ConfigError */
export function readOperatorConfig(): Config {
  // oxlint-disable-next-line node/no-process-env -- the only reader of it in this app
  return readConfig(schema, process.env);
}
