import { z } from 'zod';
import { hostVariable, wholeNumberVariable } from './config-variables.ts';
import { logLevels } from './logger.ts';

/** The variables of every process. Spread them into an app's own object, and give ADMIN_PORT a default there. */
export const runtimeConfig = {
  /** Of `/health`, `/ready` and `/metrics`. 0 picks a free port. */
  ADMIN_PORT: wholeNumberVariable({ min: 0, max: 65_535 }),
  /** The default is not reachable from other machines. */
  ADMIN_HOST: hostVariable().default('127.0.0.1'),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  /** Only `development` and `test` allow what is not safe in production, so they have to be set. */
  NODE_ENV: z
    .enum(['development', 'production', 'test'], 'must be one of development, production, test')
    .default('production'),
  /** The commit from which the process was built, for its metrics. An image sets it. */
  DEEDWIRE_COMMIT: z.string().default('unknown'),
  /** How long to keep serving after a signal, until load balancers have noticed. Defaults to 5,000 in production, else 0. */
  SHUTDOWN_DELAY_MS: wholeNumberVariable({ min: 0, max: 20_000 }).optional(),
};

export type RuntimeConfig = z.output<z.ZodObject<typeof runtimeConfig>>;
