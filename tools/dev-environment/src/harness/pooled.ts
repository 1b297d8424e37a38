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
