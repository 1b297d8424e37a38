import { createLoginSql, type DatabaseRisk, findDatabaseRisks, groupRoles, selectDatabaseName } from '@deedwire/store';
import { type AppsCheck, checkDatabaseOfApps } from '@deedwire/webhooks/check-database';
import type { ActionContext } from './context.ts';

/** Checks a database as all apps together do before they become ready. `risks` are no problems, and not looked for if there are some. */
export async function checkDatabase({ store }: ActionContext): Promise<AppsCheck & { risks: DatabaseRisk[] }> {
  const check = await checkDatabaseOfApps(store, 'operator', groupRoles);
  return { ...check, risks: check.problems.length > 0 ? [] : await findDatabaseRisks(store) };
}

export interface ProposedLogin {
  /** The name of the app, for example `lender-api`. */
  app: string;
  login: string;
  password: string;
  /** Creates the login. */
  sql: string;
}

const apps = {
  lender_api: 'lender-api',
  partner_api: 'partner-api',
  webhook_worker: 'webhook-worker',
  operator: 'operator-cli',
};

/**
 * Proposes a login for each app, with a new random password. Changes nothing.
 *
 * @param prefix of the names. Logins belong to the cluster, so it defaults to the name of the database.
 */
export async function proposeLogins({ store, random }: ActionContext, prefix?: string): Promise<ProposedLogin[]> {
  const start = prefix ?? (await selectDatabaseName(store));
  return groupRoles.map((role) => {
    const login = `${start}_${role}`;
    const password = random.bytes(24).toString('base64url');
    return { app: apps[role], login, password, sql: createLoginSql(login, password, role) };
  });
}
