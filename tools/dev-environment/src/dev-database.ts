import { randomUUID } from 'node:crypto';
import { startPostgres, withClient } from '@deedwire/embedded-postgres';
import { firm } from '@deedwire/firm';
import { createStore, migrate, MigrationChangedError, onlyRow, onNewWait, type Store } from '@deedwire/store';
import { CannotStartError } from './command-line.ts';
import type { DevConfig } from './dev-config.ts';
import { type DatabaseState, newDatabaseState } from './dev-state.ts';
import { type AppName, perApp, createAppLogins } from './firm-system.ts';
import type { Home } from './home.ts';
import { generateSecretKeys } from './start-system.ts';

export interface DevDatabase {
  /** URL with the login of the database owner. */
  url: string;
  /** The same without a transaction pooler, for migrations and notifications. */
  directUrl: string;
  /** A sentence that tells the developer how to continue with an empty database. */
  howToReset: string;
  /** Requires a migrated database. */
  appUrls(): Promise<Record<AppName, string>>;
  /** Resolves, with the reason, if the embedded server ends unexpectedly. */
  ended: Promise<string | null>;
  close(): Promise<void>;
}

/** Opens the database of DATABASE_URL, otherwise starts an embedded server whose data is in the home. */
export async function openDevDatabase(config: DevConfig, home: Home): Promise<DevDatabase> {
  const givenUrl = config.DATABASE_URL;
  if (givenUrl !== undefined) {
    return {
      url: givenUrl,
      directUrl: config.DATABASE_DIRECT_URL ?? givenUrl,
      howToReset: 'Set DATABASE_URL to an empty database.',
      // `pnpm dev` creates no logins on a server that it does not own.
      appUrls: () => perApp(() => givenUrl),
      ended: new Promise(() => {}),
      close: async () => {},
    };
  }
  await home.saveState();
  const data = { directory: home.postgresDirectory, password: home.state.postgresPassword };
  const server = await startPostgres({ data });
  return {
    url: server.url,
    directUrl: server.url,
    howToReset: `Delete its data, and start \`pnpm dev\` again: rm -r '${home.directory}'`,
    appUrls: () => createAppLogins(server.url),
    ended: server.ended,
    close: () => server.stop(),
  };
}

/** Says what it waits for. @throws {CannotStartError} if an earlier build made the database. The message contains the command that resets it. */
export async function migrateDevDatabase(
  { directUrl, howToReset }: Pick<DevDatabase, 'directUrl' | 'howToReset'>,
  say: (text: string) => void,
): Promise<void> {
  try {
    await migrate(directUrl, firm, { onWait: onNewWait(say) });
  } catch (error) {
    if (!(error instanceof MigrationChangedError)) throw error;
    throw new CannotStartError(`${error.message}\n${howToReset}`, { cause: error });
  }
}

/**
 * Returns the state that this home keeps for a database. An empty database is marked as owned by this home.
 *
 * @throws {CannotStartError} if the database is not empty and does not carry a mark of this home
 */
export async function claimDatabase(databaseUrl: string, home: Home): Promise<DatabaseState> {
  const store = createStore({ databaseUrl, applicationName: 'deedwire-dev' });
  try {
    const mark = await readMark(store);
    const known = mark === null ? undefined : home.state.databases[mark];
    if (known) return known;
    if (await isNotEmpty(store)) {
      throw new CannotStartError(
        'The database of DATABASE_URL is not empty, and `pnpm dev` did not create its content from this home. Use an empty database.',
      );
    }
    return await markDatabase(databaseUrl, home);
  } finally {
    await store.close();
  }
}

async function readMark(store: Store): Promise<string | null> {
  const text = `select to_regclass('deedwire_dev.mark') is not null as exists`;
  const { exists } = onlyRow(await store.query<{ exists: boolean }>({ name: 'dev-has-mark', text }, []));
  if (!exists) return null;
  const mark = { name: 'dev-mark', text: 'select mark from deedwire_dev.mark' };
  const [row] = await store.query<{ mark: string }>(mark, []);
  return row?.mark ?? null;
}

/** Objects of extensions are ignored: the new databases of hosting providers contain some. */
async function isNotEmpty(store: Store): Promise<boolean> {
  const text = `
    select exists (
      select from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
        and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    ) as found`;
  return onlyRow(await store.query<{ found: boolean }>({ name: 'dev-is-not-empty', text }, [])).found;
}

/** Saves the state before it writes the mark: this home would reject a database whose mark is not in its state. */
async function markDatabase(databaseUrl: string, home: Home): Promise<DatabaseState> {
  const mark = randomUUID();
  const state = newDatabaseState(generateSecretKeys());
  home.state.databases[mark] = state;
  await home.saveState();
  // One query is one transaction.
  const statements = `create schema deedwire_dev; create table deedwire_dev.mark as select text '${mark}' as mark`;
  await withClient(databaseUrl, (client) => client.query(statements));
  return state;
}
