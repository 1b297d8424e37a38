import { randomBytes } from 'node:crypto';
import type { Service } from '@deedwire/core';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { perAppOf } from '../../src/app-process.ts';
import type { Application, AppOf } from '../../src/application.ts';
import {
  type AppDatabaseUrls,
  groupRole,
  interfaceUrlsOf,
  startSystemOf,
  type SystemOptions,
} from '../../src/start-system.ts';

export type TestAppOptions<Served extends Service> = Pick<
  SystemOptions<AppOf<Served>>,
  'apps' | 'env' | 'appEnv' | 'built' | 'onLine' | 'ports' | 'workspace'
>;

/** Starts the apps as processes. Each has its own login of the database. */
export async function startTestApps<Served extends Service>(
  application: Application<Served>,
  database: TestDatabase,
  options: TestAppOptions<Served>,
) {
  const logins = await perAppOf(application, async (name) => pooled(await database.urlFor(groupRole(name))));
  const system = await startSystemOf(application, {
    ...options,
    // On a busy machine any statement can be slow.
    env: {
      DATABASE_TIMEOUT_MS: '20000',
      DOCUMENTATION_URL: 'https://deedwire.example/docs',
      PORTAL_ORIGIN: 'https://portal.example',
      WEBHOOK_EGRESS_ADDRESSES: '198.51.100.7,2001:db8:1::/64',
      ...options.env,
    },
    appEnv: await perAppOf(application, (name) => {
      const { DATABASE_URL: _, ...others }: DatabaseVariables = logins[name];
      return { ...others, ...options.appEnv?.[name] };
    }),
    databaseUrls: await perAppOf(application, (name) => logins[name].DATABASE_URL),
    webhookSecretKeys: `test:${randomBytes(32).toString('base64')}`,
  });
  return { system, urls: interfaceUrlsOf(application, system) };
}

/** A URL for each app, with the rights of its role. */
export function urlsOfApps<Served extends Service>(
  application: Application<Served>,
  database: TestDatabase,
): Promise<AppDatabaseUrls<AppOf<Served>>> {
  return perAppOf(application, (name) => database.urlFor(groupRole(name)));
}

/** The variables of an app that say how it reaches the database. */
export interface DatabaseVariables {
  DATABASE_URL: string;
  DATABASE_DIRECT_URL?: string;
  DATABASE_PREPARED_STATEMENTS?: 'off';
}

/**
 * The variables for a login, whose URL leads to the server. `scripts/test-pooler.ts` sets two environment variables:
 * `TEST_POOLER_URL` names the pooler before the server of `TEST_DATABASE_URL`, and with `TEST_POOLER_DIRECT=off` apps have no
 * direct connection beside it. Without them, and for other servers, apps connect directly.
 */
export function pooled(directUrl: string, env = process.env): DatabaseVariables {
  const { TEST_POOLER_URL: pooler, TEST_DATABASE_URL: server, TEST_POOLER_DIRECT: direct } = env;
  if (!pooler || !server || new URL(server).host !== new URL(directUrl).host) return { DATABASE_URL: directUrl };
  const url = new URL(directUrl);
  url.host = new URL(pooler).host;
  return direct === 'off'
    ? { DATABASE_URL: url.href, DATABASE_PREPARED_STATEMENTS: 'off' }
    : { DATABASE_URL: url.href, DATABASE_DIRECT_URL: directUrl };
}
