import { appVariables, runtimeConfig, wholeNumberVariable } from '@deedwire/service-runtime';
import { z } from 'zod';

const port = (standard: string) => wholeNumberVariable({ min: 0, max: 65_535 }).prefault(standard);

/** What `pnpm dev` itself reads; the apps read the rest of the environment. */
export const devConfig = z.object({
  /** Not set: `.local` in the workspace. */
  DEEDWIRE_HOME: z.string().optional(),
  /** Not set: an embedded server, its data in the home. */
  DATABASE_URL: appVariables.DATABASE_URL.optional(),
  DATABASE_DIRECT_URL: appVariables.DATABASE_DIRECT_URL,
  /** 0: a free one. */
  LENDER_API_PORT: port('4001'),
  PARTNER_API_PORT: port('4002'),
  WEBHOOK_WORKER_PORT: port('4003'),
  GID_NAMESPACE: appVariables.GID_NAMESPACE,
  LOG_LEVEL: runtimeConfig.LOG_LEVEL,
  WEBHOOK_CALLBACK_POLICY: appVariables.WEBHOOK_CALLBACK_POLICY.unwrap().default('development'),
});

export type DevConfig = z.output<typeof devConfig>;
