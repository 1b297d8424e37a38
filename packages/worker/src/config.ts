import type { Service } from '@deedwire/core';
import {
  appConfig,
  auditRetentionDaysVariable,
  mailSenderVariable,
  checkPortalOrigin,
  portalOriginVariable,
  readConfig,
  smtpUrlVariable,
  wholeNumberVariable,
} from '@deedwire/service-runtime';
import { z } from 'zod';

const schemaOf = (service: Pick<Service, 'names'>) =>
  appConfig(service, { adminPort: 4003 })
    .safeExtend({
      /** How often to poll for work whose notification was lost. 0 disables polling. */
      POLL_INTERVAL_MS: wholeNumberVariable({ min: 0, max: 60_000 }).default(500),
      /** How long to keep entries of the audit log. */
      AUDIT_RETENTION_DAYS: auditRetentionDaysVariable,
      /** The maximum number of concurrent requests to callback URLs. */
      WORKER_CONCURRENCY: wholeNumberVariable({ min: 16, max: 10_000 }).default(2_000),
      /** How long a worker keeps its accounts without renewing its lease. Then another worker takes over. */
      WORKER_LEASE_MS: wholeNumberVariable({ min: 500, max: 60_000 }).default(15_000),
      /** How long work may fail again and again until `/ready` answers 503. Longer than a failover of the database. */
      WORKER_UNREADY_AFTER_MS: wholeNumberVariable({ min: 1_000, max: 3_600_000 }).default(60_000),
      /** How long events can be delivered. */
      WEBHOOK_RETENTION_DAYS: wholeNumberVariable({ min: 1, max: 365 }).default(30),
      /** How long the details of attempts are kept. 0: none are. */
      WEBHOOK_EXCHANGE_RETENTION_DAYS: wholeNumberVariable({ min: 0, max: 365 }).default(7),
      /** How long replays are kept after their end. */
      WEBHOOK_REPLAY_RETENTION_DAYS: wholeNumberVariable({ min: 1, max: 365 }).default(90),
      /** The three of mails to contact addresses. Without one of them, none is sent. */
      PORTAL_ORIGIN: portalOriginVariable().optional(),
      SMTP_URL: smtpUrlVariable().optional(),
      SMTP_FROM: mailSenderVariable().optional(),
      /** For fault tests: the failpoint at which the process kills itself. */
      DEEDWIRE_FAILPOINT: z.string().optional(),
    })
    .superRefine(checkPortalOrigin)
    .refine(
      ({ POLL_INTERVAL_MS, DATABASE_DIRECT_URL, DATABASE_PREPARED_STATEMENTS }) =>
        POLL_INTERVAL_MS > 0 || DATABASE_DIRECT_URL !== undefined || DATABASE_PREPARED_STATEMENTS !== 'off',
      {
        path: ['POLL_INTERVAL_MS'],
        error: 'must not be 0 without DATABASE_DIRECT_URL if DATABASE_PREPARED_STATEMENTS is off',
      },
    );

export type WorkerConfig = z.output<ReturnType<typeof schemaOf>>;

/**
 * The only reader of the environment.
 *
 * @throws {ConfigError} if a variable is missing or invalid
 */
export function readWorkerConfig(
  service: Pick<Service, 'names'>,
  env: Readonly<Record<string, string | undefined>> = process.env,
): WorkerConfig {
  return readConfig(schemaOf(service), env);
}
