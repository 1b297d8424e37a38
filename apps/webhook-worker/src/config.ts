import { gidNamespacePattern } from '@deedwire/domain';
import { readConfig, runtimeConfig, urlVariable, wholeNumberVariable } from '@deedwire/service-runtime';
import { parseSecretKeys, SecretKeysInvalidError } from '@deedwire/store';
import { z } from 'zod';

const schema = z
  .object({
    ...runtimeConfig,
    PORT: runtimeConfig.PORT.default(4003),
    DATABASE_URL: urlVariable('postgres', 'postgresql'),
    /** Where DATABASE_URL is a transaction pooler: a direct connection, to be woken by notifications. Not set: DATABASE_URL. */
    DATABASE_DIRECT_URL: urlVariable('postgres', 'postgresql').optional(),
    GID_NAMESPACE: z
      .string()
      .regex(gidNamespacePattern, 'must be lower-case letters, digits and hyphens, a letter first')
      .default('service'),
    /** `<key id>:<base64 of 32 bytes>`, the first encrypts; several separated by commas. */
    WEBHOOK_SECRET_KEYS: z.string().transform((text, context) => {
      try {
        return parseSecretKeys(text);
      } catch (error) {
        if (!(error instanceof SecretKeysInvalidError)) throw error;
        context.addIssue({ code: 'custom', message: `cannot be used: ${error.message}` });
        return z.NEVER;
      }
    }),
    WEBHOOK_CALLBACK_POLICY: z.enum(['public', 'development'], 'must be public or development').default('public'),
    /** How often to look for work that no notification told of. 0: never. */
    POLL_INTERVAL_MS: wholeNumberVariable({ min: 0, max: 60_000 }).default(500),
    /** How many requests to callback URLs may be under way at the same time. */
    WORKER_CONCURRENCY: wholeNumberVariable({ min: 1, max: 10_000 }).default(256),
    /** Node's own switch. `0` is refused, except for development. */
    NODE_TLS_REJECT_UNAUTHORIZED: z.string().optional(),
  })
  .refine((config) => !(config.NODE_ENV === 'production' && config.WEBHOOK_CALLBACK_POLICY === 'development'), {
    path: ['WEBHOOK_CALLBACK_POLICY'],
    message: 'must not be development when NODE_ENV is production',
  });

export type WorkerConfig = z.output<typeof schema>;

/** The only reader of the environment. */
export function readWorkerConfig(): WorkerConfig {
  // oxlint-disable-next-line node/no-process-env -- here, and nowhere else in this app
  return readConfig(schema, process.env);
}
