import { createLoginSql, type GroupRole, groupRoles, missingRights, selectDatabaseName } from '@deedwire/store';
import type { ActionContext } from './context.ts';

export interface MissingRight {
  role: GroupRole;
  /** In the words of GRANT, for example `select on account`. */
  right: string;
}

/** Lists the rights that the migrations of this build grant to the group roles of the apps, and that these do not have. */
export async function listMissingRights({ store }: ActionContext): Promise<MissingRight[]> {
  const missing: MissingRight[] = [];
  for (const role of groupRoles) for (const right of await missingRights(store, role)) missing.push({ role, right });
  return missing;
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
