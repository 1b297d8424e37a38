import type { DatabaseRole, TestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection } from '@deedwire/testing';

export const databaseRoles: readonly DatabaseRole[] = ['lender_api', 'partner_api', 'webhook_worker', 'operator'];

/** A session of the login of each app. */
export interface Logins {
  of(role: DatabaseRole): Connection;
  close(): Promise<void>;
}

export async function openLogins(database: TestDatabase): Promise<Logins> {
  const sessions = new Map<DatabaseRole, Connection>();
  for (const role of databaseRoles) sessions.set(role, await connect(await database.urlFor(role)));
  return {
    of(role) {
      const session = sessions.get(role);
      if (session === undefined) throw new Error(`No login for ${role}.`);
      return session;
    },
    async close() {
      for (const session of sessions.values()) await session.close();
    },
  };
}
