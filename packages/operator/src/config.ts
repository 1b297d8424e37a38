import type { Service } from '@deedwire/core';
import {
  appVariables,
  auditRetentionDaysVariable,
  checkDatabaseTls,
  databaseTlsConfig,
  gidNamespaceVariable,
  portalOriginVariable,
  readConfig,
} from '@deedwire/service-runtime';
import { z } from 'zod';
import type { Shell } from './shell.ts';

const schemaOf = (service: Pick<Service, 'names'>) =>
  z
    .object({
      ...databaseTlsConfig,
      /** Defaults to the database of a running development environment. */
      DATABASE_URL: appVariables.DATABASE_URL.optional(),
      /** The standby that a split promotes. For `cell split` only. */
      NEW_CELL_DATABASE_URL: appVariables.DATABASE_URL.optional(),
      DATABASE_DIRECT_URL: appVariables.DATABASE_DIRECT_URL,
      DATABASE_PREPARED_STATEMENTS: appVariables.DATABASE_PREPARED_STATEMENTS,
      DATABASE_SCHEMA: appVariables.DATABASE_SCHEMA,
      /** The folder of the development environment. Defaults to `.local` in the workspace. */
      DEEDWIRE_HOME: z.string().optional(),
      /** The name in the audit log. Defaults to the user of the operating system. */
      OPERATOR_NAME: z.string().min(1, 'must not be empty').max(200, 'must have at most 200 characters').optional(),
      /** The new secret of `subscription rotate`. Defaults to a generated one. */
      WEBHOOK_SECRET: z.string().optional(),
      /** For `secrets rewrap`, `subscription rotate`, `subscription update` and `delivery show --curl` only. Defaults to the keys of a running development environment. */
      WEBHOOK_SECRET_KEYS: appVariables.WEBHOOK_SECRET_KEYS.optional(),
      /** As for the worker. An export does not report an older entry that is missing. */
      AUDIT_RETENTION_DAYS: auditRetentionDaysVariable,
      GID_NAMESPACE: gidNamespaceVariable(service),
      /** For `portal link` only. */
      PORTAL_ORIGIN: portalOriginVariable().optional(),
      SLOW_STATEMENT_MS: appVariables.SLOW_STATEMENT_MS,
    })
    .superRefine(checkDatabaseTls);

export type Config = z.output<ReturnType<typeof schemaOf>>;

/** @throws {ConfigError} if a variable is missing or invalid. */
export function readOperatorConfig({ service, env }: Pick<Shell, 'service' | 'env'>): Config {
  return readConfig(schemaOf(service), env);
}
