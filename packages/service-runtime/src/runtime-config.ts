import { z } from 'zod';
import { wholeNumberVariable } from './config-variables.ts';
import { logLevels } from './logger.ts';

/** The variables of every process. Spread them into an app's own object, and give PORT a default there. */
export const runtimeConfig = {
  /** 0 picks a free port. */
  PORT: wholeNumberVariable({ min: 0, max: 65_535 }),
  /** Defaults to every address of the machine. */
  HOST: z.string().optional(),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  NODE_ENV: z
    .enum(['development', 'production', 'test'], 'must be one of development, production, test')
    .default('development'),
  /** How long to keep serving after a signal, until load balancers have noticed. Defaults to 5,000 in production, else 0. */
  SHUTDOWN_DELAY_MS: wholeNumberVariable({ min: 0, max: 20_000 }).optional(),
};

export type RuntimeConfig = z.output<z.ZodObject<typeof runtimeConfig>>;
