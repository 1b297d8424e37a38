import type { ActionContext } from '@deedwire/actions';
import { createNotifier, createStore, migrate } from '@deedwire/store';
import { readOperatorConfig } from './config.ts';
import { findDatabaseUrl } from './database-url.ts';

const applicationName = 'deedwire-operator';

/** Runs one action and lets go of the database. */
export async function withContext<Result>(work: (context: ActionContext) => Promise<Result>): Promise<Result> {
  const config = readOperatorConfig();
  const databaseUrl = findDatabaseUrl(config);
  const store = createStore({ databaseUrl, applicationName, maxConnections: 1 });
  const notifier = createNotifier({
    databaseUrl,
    applicationName,
    onError: () => process.stderr.write('The webhook worker could not be woken; it will look by itself.\n'),
  });
  try {
    return await work({ store, gidNamespace: config.GID_NAMESPACE, notify: () => notifier.notify() });
  } finally {
    await notifier.close();
    await store.close();
  }
}

/** Brings the database to what this build needs. Returns the names of the migrations that were missing. */
export async function migrateDatabase(): Promise<{ applied: string[] }> {
  const config = readOperatorConfig();
  return migrate(config.DATABASE_DIRECT_URL ?? findDatabaseUrl(config));
}
