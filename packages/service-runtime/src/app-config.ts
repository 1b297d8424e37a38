import { gidNamespacePattern } from '@deedwire/domain';
import { z } from 'zod';
import { urlVariable, wholeNumberVariable } from './config-variables.ts';
import { runtimeConfig } from './runtime-config.ts';
import { secretKeysVariable } from './secret-keys-variable.ts';

/** The variables that mean the same wherever they are read. */
export const appVariables = {
  DATABASE_URL: urlVariable('postgres', 'postgresql'),
  /** Where DATABASE_URL is a transaction pooler: a direct connection, for notifications and migrations. Not set: DATABASE_URL. */
  DATABASE_DIRECT_URL: urlVariable('postgres', 'postgresql').optional(),
  GID_NAMESPACE: z
    .string()
    .regex(gidNamespacePattern, 'must be lower-case letters, digits and hyphens, a letter first')
    .default('service'),
  /** Log each statement that takes at least this long. 0 logs none. */
  SLOW_STATEMENT_MS: wholeNumberVariable({ min: 0, max: 60_000 }).default(500),
  /** The first encrypts, all decrypt. */
  WEBHOOK_SECRET_KEYS: secretKeysVariable(),
  WEBHOOK_CALLBACK_POLICY: z.enum(['public', 'development'], 'must be public or development').default('public'),
  /** Node's own switch. `0` is refused, except for development. */
  NODE_TLS_REJECT_UNAUTHORIZED: z.string().optional(),
};

/** What every app that serves is configured by. `safeExtend` it by the app's own variables. */
export const appConfig = (defaults: { port: number }) =>
  z
    .object({ ...runtimeConfig, PORT: runtimeConfig.PORT.default(defaults.port), ...appVariables })
    .refine((config) => !(config.NODE_ENV === 'production' && config.WEBHOOK_CALLBACK_POLICY === 'development'), {
      path: ['WEBHOOK_CALLBACK_POLICY'],
      error: 'must not be development when NODE_ENV is production',
      when: alsoBesideOtherProblems,
    })
    .refine((config) => !(config.NODE_TLS_REJECT_UNAUTHORIZED === '0' && config.WEBHOOK_CALLBACK_POLICY === 'public'), {
      path: ['NODE_TLS_REJECT_UNAUTHORIZED'],
      error: 'must not be 0: callback URLs would not be verified',
      when: alsoBesideOtherProblems,
    });

/** By default zod checks what concerns several variables only when each is right by itself. */
function alsoBesideOtherProblems(): boolean {
  return true;
}
