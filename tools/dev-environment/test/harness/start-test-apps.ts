import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { perApp } from '../../src/app-process.ts';
import {
  type AppDatabaseUrls,
  groupRole,
  interfaceUrls,
  startSystem,
  type SystemOptions,
} from '../../src/start-system.ts';

export type TestAppOptions = Pick<
  SystemOptions,
  'apps' | 'env' | 'appEnv' | 'built' | 'onLine' | 'ports' | 'workspace'
>;

/** Starts the apps as processes. Each has its own login of the database. */
export async function startTestApps(database: TestDatabase, options: TestAppOptions) {
  const logins = await perApp(async (name) => pooled(await database.urlFor(groupRole(name))));
  const system = await startSystem({
    ...options,
    // On a busy machine any statement can be slow.
    env: {
      DATABASE_TIMEOUT_MS: '20000',
      DOCUMENTATION_URL: 'https://deedwire.example/docs',
      PORTAL_ORIGIN: 'https://portal.example',
      WEBHOOK_EGRESS_ADDRESSES: '198.51.100.7,2001:db8:1::/64',
      ...options.env,
    },
    appEnv: await perApp((name) => {
      const { DATABASE_URL: _, ...others }: DatabaseVariables = logins[name];
      return { ...others, ...options.appEnv?.[name] };
    }),
    databaseUrls: await perApp((name) => logins[name].DATABASE_URL),
    webhookSecretKeys: `test:${randomBytes(32).toString('base64')}`,
  });
  return { system, urls: interfaceUrls(system) };
}

/** A URL for each app, with the rights of its role. */
export function urlsOfApps(database: TestDatabase): Promise<AppDatabaseUrls> {
  return perApp((name) => database.urlFor(groupRole(name)));
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
