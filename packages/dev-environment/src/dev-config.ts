import { gidNamespacePattern } from '@deedwire/domain';
import { runtimeConfig, urlVariable, wholeNumberVariable } from '@deedwire/service-runtime';
import { z } from 'zod';

const port = (standard: string) => wholeNumberVariable({ min: 0, max: 65_535 }).prefault(standard);

/** What `pnpm dev` itself reads; the apps read the rest of the environment. */
export const devConfig = z.object({
  /** Not set: `.local` in the workspace. */
  DEEDWIRE_HOME: z.string().optional(),
  /** Not set: an embedded server, its data in the home. */
  DATABASE_URL: urlVariable('postgres', 'postgresql').optional(),
  /** Where DATABASE_URL is a transaction pooler: the server itself. */
  DATABASE_DIRECT_URL: urlVariable('postgres', 'postgresql').optional(),
  /** 0: a free one. */
  LENDER_API_PORT: port('4001'),
  PARTNER_API_PORT: port('4002'),
  WEBHOOK_WORKER_PORT: port('4003'),
  GID_NAMESPACE: z
    .string()
    .regex(gidNamespacePattern, 'must be lower-case letters, digits and hyphens, a letter first')
    .default('service'),
  LOG_LEVEL: runtimeConfig.LOG_LEVEL,
  WEBHOOK_CALLBACK_POLICY: z.enum(['public', 'development'], 'must be public or development').default('development'),
});

export type DevConfig = z.output<typeof devConfig>;
