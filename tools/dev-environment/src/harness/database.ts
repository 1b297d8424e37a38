import type { ActionContext } from '@deedwire/actions';
import { ensureOpenReferrals, seed, type DevSeed } from '@deedwire/dev-environment';
import {
  createLogin,
  createTestDatabase,
  type DatabaseRole,
  type PostgresServer,
  type TestDatabase,
} from '@deedwire/embedded-postgres';
import { createNotifier, createStore, migrate } from '@deedwire/store';

/** A database of a test's own, with two organizations in it. */
export interface PreparedDatabase {
  accounts: DevSeed;
  /** At least 20 open referrals of `partner`, oldest first. */
  referrals: string[];
  /** What the operator's actions need. */
  operator: ActionContext;
  /** As a login of its own in the group role of an app. */
  urlFor(role: DatabaseRole): Promise<string>;
  /** Forgets how many callback URLs were verified in this minute, for tests that verify more than an account may. */
  forgetHandshakes(): Promise<void>;
  close(): Promise<void>;
}

const appName = 'contract-tests';

/** @param server one of the test's own, which it may restart; it stops at the end. Missing: the run's */
export async function prepareDatabase(server?: PostgresServer): Promise<PreparedDatabase> {
  const database = await (server === undefined ? createDatabase() : useServer(server));
  const databaseUrl = await database.urlFor('operator');
  const store = createStore({ databaseUrl, applicationName: appName });
  const admin = createStore({
    databaseUrl: database.databaseUrl,
    applicationName: `${appName}-admin`,
    maxConnections: 1,
  });
  const notifier = createNotifier({ databaseUrl, applicationName: appName, onError: () => {} });
  const operator: ActionContext = { store, gidNamespace: 'service', notify: () => notifier.notify() };
  const accounts = await seed(operator);
  return {
    accounts,
    referrals: await ensureOpenReferrals(operator, accounts.partner.id),
    operator,
    urlFor: (role) => database.urlFor(role),
    async forgetHandshakes() {
      await admin.query({ name: 'forget-handshakes', text: 'delete from webhook_handshake_count' }, []);
    },
    async close() {
      await notifier.close();
      await Promise.all([store.close(), admin.close()]);
      await database.drop();
    },
  };
}

function createDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ template: 'migrated', prepare: async (url) => void (await migrate(url)) });
}

async function useServer(server: PostgresServer): Promise<TestDatabase> {
  await migrate(server.url);
  return {
    databaseUrl: server.url,
    urlFor: (role) => createLogin(server.url, `${role}_login`, role),
    drop: () => server.stop(),
  };
}
