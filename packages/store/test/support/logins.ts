import type { Service } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection } from '@deedwire/testing';
import { type GroupRole, groupRolesOf } from '../../src/migrations/group-roles.ts';

/** A session of the login of each app. */
export interface Logins {
  of(role: GroupRole): Connection;
  close(): Promise<void>;
}

export async function openLogins(database: TestDatabase, service: Service = testService): Promise<Logins> {
  const sessions = new Map<GroupRole, Connection>();
  for (const role of groupRolesOf(service)) sessions.set(role, await connect(await database.urlFor(role)));
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
