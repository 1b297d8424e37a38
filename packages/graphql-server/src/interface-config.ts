import { gidNamespacePattern } from '@deedwire/domain';
import { runtimeConfig, urlVariable } from '@deedwire/service-runtime';
import { parseSecretKeys, SecretKeysInvalidError } from '@deedwire/store';
import { z } from 'zod';

/** The environment variables of an interface's app. */
export const interfaceConfig = (defaults: { port: number }) =>
  z
    .object({
      ...runtimeConfig,
      PORT: runtimeConfig.PORT.default(defaults.port),
      DATABASE_URL: urlVariable('postgres', 'postgresql'),
      /** A connection that bypasses a transaction pooler, to wake the webhook worker. Not set: DATABASE_URL. */
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
      /** Where the folder `docs` is published: errors and the headers of deprecated versions link to its pages. */
      DOCUMENTATION_URL: urlVariable('https', 'http')
        .transform((url) => url.replace(/\/$/, ''))
        .default('https://deedwire.example/docs'),
      /** Node's own switch. `0` is refused, except for development. */
      NODE_TLS_REJECT_UNAUTHORIZED: z.string().optional(),
    })
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

export type InterfaceConfig = z.output<ReturnType<typeof interfaceConfig>>;

/** By default zod checks what concerns several variables only when each is right by itself. */
function alsoBesideOtherProblems(): boolean {
  return true;
}
