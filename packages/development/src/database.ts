import { randomUUID } from 'node:crypto';
import { type GidContext, interfaceNamesOf, type Service } from '@deedwire/core';
import { findFreePort, isPortFree, startPostgres, withClient } from '@deedwire/embedded-postgres/server';
import {
  createStore,
  databaseAddress,
  defaultPlaceOf,
  migrate,
  MigrationChangedError,
  type MigrateOptions,
  onlyRow,
  onNewWait,
  placesWithTables,
  type Store,
  withSchema,
} from '@deedwire/store';
import { CannotStartError } from './cannot-start-error.ts';
import { type DatabaseState, generateSecretKeys, newDatabaseState } from './dev-state.ts';
import type { Home } from './home.ts';

export interface DevDatabase {
  /** URL with the login of the database owner. */
  url: string;
  /** The same without a transaction pooler, for migrations and notifications. */
  directUrl: string;
  /** Where a new database gets its tables. */
  place: Pick<MigrateOptions, 'defaults' | 'schema'>;
  /** A sentence that tells the developer how to continue with an empty database. */
  howToReset: string;
  /** Whether the server is embedded. On another one, no logins are created. */
  isEmbedded: boolean;
  /** Resolves, with the reason, if the embedded server ends unexpectedly. */
  ended: Promise<string | null>;
  close(): Promise<void>;
}

/**
 * Opens the database of DATABASE_URL, otherwise starts an embedded server whose data is in the home.
 *
 * @param givenDefaults where the tables of a new database of DATABASE_URL are. Defaults to where `migrate` creates them
 */
export async function openDevDatabase(
  service: Service,
  config: {
    DATABASE_URL?: string | undefined;
    DATABASE_DIRECT_URL?: string | undefined;
    DATABASE_SCHEMA?: string | undefined;
  },
  home: Home,
  givenDefaults: DevDatabase['place'] = { defaults: defaultPlaceOf(service) },
): Promise<DevDatabase> {
  const { DATABASE_URL: givenUrl, DATABASE_DIRECT_URL: givenDirectUrl, DATABASE_SCHEMA: schema } = config;
  const chosen = schema === undefined ? {} : { schema };
  if (givenUrl !== undefined) {
    return {
      url: givenUrl,
      directUrl: givenDirectUrl ?? givenUrl,
      place: { ...givenDefaults, ...chosen },
      howToReset: 'For an empty database, set DATABASE_URL to another one.',
      isEmbedded: false,
      ended: new Promise(() => {}),
      close: async () => {},
    };
  }
  // So that an application keeps its DATABASE_URL.
  const { postgresPort: last, postgresPassword: password } = home.state;
  const port = last !== undefined && (await isPortFree(last)) ? last : await findFreePort();
  home.state.postgresPort = port;
  await home.saveState();
  const server = await startPostgres({ data: { directory: home.postgresDirectory, password }, port });
  return {
    url: server.url,
    directUrl: server.url,
    place: { defaults: defaultPlaceOf(service), ...chosen },
    howToReset: `For an empty database, delete the data, and start \`${home.command}\` again: rm -r '${home.directory}'`,
    isEmbedded: true,
    ended: server.ended,
    close: () => server.stop(),
  };
}

/**
 * Says what it waits for. Returns the schema of the tables, and the URL of a session that finds them.
 *
 * @param organization that a database without one gets. Null: the sample data has its own organizations
 * @throws {CannotStartError} if an earlier build made the database, with the command that resets it, or if the migrations of the service do not
 * register one of its tables
 */
export async function migrateDevDatabase(
  { service, gidNamespace }: GidContext,
  { url, directUrl, place: chosen, howToReset }: Pick<DevDatabase, 'directUrl' | 'howToReset' | 'place' | 'url'>,
  say: (text: string) => void,
  organization: string | null = null,
): Promise<{ schema: string; url: string }> {
  try {
    const unregistered: string[] = [];
    const { place } = await migrate(directUrl, service, {
      ...chosen,
      gidNamespace,
      organization,
      onWait: onNewWait(say),
      onUnregistered: (problem) => unregistered.push(problem),
    });
    if (unregistered.length > 0) throw new CannotStartError(`Nothing would become ready: ${unregistered.join('; ')}.`);
    const { schema } = place;
    return { schema, url: url === directUrl ? withSchema(url, schema) : url };
  } catch (error) {
    if (!(error instanceof MigrationChangedError)) throw error;
    throw new CannotStartError(`${error.message}\n${howToReset}`, { cause: error });
  }
}

const unknownKeys = 'new secret keys, with which it sends nothing to the subscriptions that exist';

/**
 * Returns the state that this home keeps for a database. One without our tables is marked as owned by this home, whatever else it has.
 *
 * @param options `existing` also claims one that was migrated otherwise. `keysOfWorker` says which secret keys its worker has then
 * @throws {CannotStartError} if the database has our tables and does not carry a mark of this home, or has accounts of another service
 */
export async function claimDatabase(
  service: Service,
  databaseUrl: string,
  home: Home,
  { existing = false, keysOfWorker = unknownKeys }: { existing?: boolean; keysOfWorker?: string } = {},
): Promise<DatabaseState> {
  const store = createStore({ databaseUrl, applicationName: 'deedwire-dev' });
  try {
    const mark = await readMark(store);
    const known = mark === null ? undefined : home.state.databases[mark];
    if (known) return refuseForeign(service, known, home);
    if (!existing && (await isMigrated(store))) {
      throw new CannotStartError(
        `The database ${databaseAddress(databaseUrl)} was migrated, and not by \`${home.command}\` from this home. Use another one, or pass --existing: sample accounts are then added to it, and the worker has ${keysOfWorker}.`,
      );
    }
    return await markDatabase(databaseUrl, home);
  } finally {
    await store.close();
  }
}

/** The migrations of this service would change the database of another one. */
function refuseForeign(service: Service, state: DatabaseState, home: Home): DatabaseState {
  const names = interfaceNamesOf(service);
  const foreign = Object.values(state.seed ?? {}).find(({ interfaceName }) => !names.includes(interfaceName));
  if (foreign === undefined) return state;
  throw new CannotStartError(
    `The database has accounts of the interface ${foreign.interfaceName}, which this service does not have. Set DEEDWIRE_HOME to a folder for this service, or delete the data: rm -r '${home.directory}'`,
  );
}

async function readMark(store: Store): Promise<string | null> {
  const text = `select to_regclass('deedwire_dev.mark') is not null as exists`;
  const { exists } = onlyRow(await store.query<{ exists: boolean }>({ name: 'dev-has-mark', text }, []));
  if (!exists) return null;
  const mark = { name: 'dev-mark', text: 'select mark from deedwire_dev.mark' };
  const [row] = await store.query<{ mark: string }>(mark, []);
  return row?.mark ?? null;
}

/** Whether any schema has our tables. */
async function isMigrated(store: Store): Promise<boolean> {
  const text = `with ${placesWithTables} select exists (select from place) as found`;
  return onlyRow(await store.query<{ found: boolean }>({ name: 'dev-is-migrated', text }, [])).found;
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
