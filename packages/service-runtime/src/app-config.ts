import { gidNamespacePattern, type Service } from '@deedwire/core';
import { withSchema } from '@deedwire/store';
import { z } from 'zod';
import { deniedRangesVariable, nat64PrefixVariable } from './address-ranges.ts';
import { databaseUrlVariable, urlVariable, wholeNumberVariable } from './config-variables.ts';
import { checkDatabaseTls, databaseTlsConfig } from './database-tls.ts';
import { proxyUrlVariable } from './proxy-url-variable.ts';
import { runtimeConfig } from './runtime-config.ts';
import { secretKeysVariable } from './secret-keys-variable.ts';

/**
 * `off`: for a transaction pooler that does not track prepared statements. If it is not set, statements are prepared unless
 * DATABASE_DIRECT_URL is set.
 */
const preparedStatementsVariable = z.enum(['on', 'off'], 'must be on or off').optional();

/** The schema of the tables. */
const schemaVariable = z
  .string()
  .regex(/^[^\p{Cc}]{1,63}$/u, 'must have 1 to 63 characters')
  .optional();

/** The variables of the connections of a store. */
export function storeConnections(config: {
  DATABASE_URL: string;
  DATABASE_SCHEMA?: string | undefined;
  DATABASE_DIRECT_URL?: string | undefined;
  DATABASE_PREPARED_STATEMENTS?: 'on' | 'off' | undefined;
}) {
  const { DATABASE_URL: databaseUrl, DATABASE_DIRECT_URL: directUrl, DATABASE_PREPARED_STATEMENTS: prepared } = config;
  // A transaction pooler rejects settings at connection: there, the login has the search path.
  const isPooled = directUrl !== undefined || prepared === 'off';
  return {
    databaseUrl: isPooled ? databaseUrl : inSchema(databaseUrl, config),
    directUrl: directUrl === undefined ? undefined : inSchema(directUrl, config),
    prepares: prepared === undefined ? undefined : prepared === 'on',
  };
}

/** The URL of a direct connection whose sessions find the tables in DATABASE_SCHEMA. */
export function inSchema(
  directUrl: string,
  { DATABASE_SCHEMA: schema }: { DATABASE_SCHEMA?: string | undefined },
): string {
  return schema === undefined ? directUrl : withSchema(directUrl, schema);
}

/** The variables that have the same meaning in every app. */
export const appVariables = {
  DATABASE_URL: databaseUrlVariable(),
  /** A direct connection for notifications and migrations, if DATABASE_URL is a transaction pooler. Defaults to DATABASE_URL. */
  DATABASE_DIRECT_URL: databaseUrlVariable().optional(),
  DATABASE_PREPARED_STATEMENTS: preparedStatementsVariable,
  /**
   * For a direct connection. If it is not set, and behind a transaction pooler, the search path of the login leads to the tables. Nothing
   * looks for them in other schemas: a login that may create a schema could make tables with the same names.
   */
  DATABASE_SCHEMA: schemaVariable,
  DATABASE_TLS: databaseTlsConfig.DATABASE_TLS,
  /** Where the folder `docs` is published. Errors and the headers of deprecated versions link to its pages, otherwise to none. */
  DOCUMENTATION_URL: urlVariable('https', 'http', 'file')
    // A header can contain only ASCII.
    .transform((url) => new URL(url).href.replace(/\/$/, ''))
    .optional(),
  /** The threshold for logging slow statements, in milliseconds. 0 logs none. */
  SLOW_STATEMENT_MS: wholeNumberVariable({ min: 0, max: 60_000 }).default(500),
  /** The first key encrypts; all keys decrypt. */
  WEBHOOK_SECRET_KEYS: secretKeysVariable(),
  WEBHOOK_CALLBACK_POLICY: z.enum(['public', 'development'], 'must be public or development').default('public'),
  /** In addition to the addresses that the policy forbids, and also under `development`. */
  WEBHOOK_DENIED_RANGES: deniedRangesVariable(),
  WEBHOOK_NAT64_PREFIX: nat64PrefixVariable().optional(),
  /** The HTTP proxy through which all connections to callback URLs are opened. */
  WEBHOOK_PROXY_URL: proxyUrlVariable().optional(),
  /** Read by Node itself. `0` is rejected unless WEBHOOK_CALLBACK_POLICY is `development`. */
  NODE_TLS_REJECT_UNAUTHORIZED: z.string().optional(),
};

/** GID_NAMESPACE: the namespace of global identifiers, the same in every app. */
export const gidNamespaceVariable = ({ names }: Pick<Service, 'names'>) =>
  z
    .string()
    .regex(gidNamespacePattern, 'must consist of lowercase letters, digits and hyphens, and begin with a letter')
    .default(names.gidNamespace);

/** AUDIT_RETENTION_DAYS: how many days the worker keeps entries of the audit log. The audit log itself requires 90. */
export const auditRetentionDaysVariable = wholeNumberVariable({ min: 90, max: 3_650 }).default(400);

/** The configuration of every app that is a service. Add the app's own variables with `safeExtend`. */
export const appConfig = (service: Pick<Service, 'names'>, defaults: { adminPort: number }) =>
  z
    .object({
      ...runtimeConfig,
      ADMIN_PORT: runtimeConfig.ADMIN_PORT.default(defaults.adminPort),
      ...appVariables,
      GID_NAMESPACE: gidNamespaceVariable(service),
    })
    .superRefine(checkDatabaseTls, { when: evenWithOtherProblems })
    .refine((config) => !(config.NODE_ENV === 'production' && config.WEBHOOK_CALLBACK_POLICY === 'development'), {
      path: ['WEBHOOK_CALLBACK_POLICY'],
      error: 'must not be development unless NODE_ENV is development or test',
      when: evenWithOtherProblems,
    })
    .refine((config) => !(config.NODE_TLS_REJECT_UNAUTHORIZED === '0' && config.WEBHOOK_CALLBACK_POLICY === 'public'), {
      path: ['NODE_TLS_REJECT_UNAUTHORIZED'],
      error: 'must not be 0, because it disables TLS verification of callback URLs',
      when: evenWithOtherProblems,
    });

/** By default, zod skips a check of several variables when another variable is invalid. */
function evenWithOtherProblems(): boolean {
  return true;
}
