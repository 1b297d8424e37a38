import { randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { systemRandom, type OperatorContext } from '@deedwire/actions';
import { operatorCommand } from '@deedwire/core';
import { createRegistration, inSchema, storeConnections } from '@deedwire/service-runtime';
import {
  backgroundTimeouts,
  createSecretKeyRing,
  createStore,
  type DatabaseTimeouts,
  defaultPlaceOf,
  findDatabaseProblems,
  findServiceProblems,
  findUsedSchema,
  migrate,
  type Migrated,
  type MigrateOptions,
  onNewWait,
  type SecretKeyRing,
  type PooledStore,
  type Store,
  type StoreOptions,
  StoreUnavailableError,
  toAccessError,
} from '@deedwire/store';
import { type Config, readOperatorConfig } from './config.ts';
import { findDatabaseUrl, findSecretKeys } from './database-url.ts';
import type { Shell } from './shell.ts';

const applicationName = 'deedwire-operator';

type DatabaseContext = OperatorContext & { store: PooledStore };

/**
 * Runs one action and closes the connections.
 *
 * @throws {Error} if the database lacks migrations of this build, or the login rights
 */
export async function withContext<Result>(
  shell: Shell,
  work: (context: OperatorContext, config: Config) => Promise<Result>,
  timeouts = backgroundTimeouts,
): Promise<Result> {
  const workOnSchema: typeof work = async (context, config) => {
    await requireDatabase(context);
    return work({ ...context, store: registerBeforeWrites(shell, context.store) }, config);
  };
  return withSchemaOf(shell, findUsedSchema, workOnSchema, timeouts);
}

/** As `withContext`, but whatever is wrong with the database. */
export async function withAnyDatabase<Result>(
  shell: Shell,
  work: (context: DatabaseContext, config: Config) => Promise<Result>,
): Promise<Result> {
  return withSchemaOf(shell, findSchemaIfAvailable, work, backgroundTimeouts);
}

const findSchemaIfAvailable: typeof findUsedSchema = async (database) => {
  try {
    return await findUsedSchema(database);
  } catch (error) {
    if (error instanceof StoreUnavailableError) return null;
    throw error;
  }
};

/** Without DATABASE_SCHEMA, the schema is found: the configuration that `work` gets has it, unless it is `public`. */
async function withSchemaOf<Result>(
  shell: Shell,
  find: typeof findUsedSchema,
  work: (context: DatabaseContext, config: Config) => Promise<Result>,
  timeouts: DatabaseTimeouts,
): Promise<Result> {
  const config = readOperatorConfig(shell);
  const open = <Done>(of: Config, then: (context: DatabaseContext, config: Config) => Promise<Done>): Promise<Done> =>
    withStore(shell, of, { ...storeConnections({ ...of, DATABASE_URL: findDatabaseUrl(of) }), timeouts }, then);
  if (config.DATABASE_SCHEMA !== undefined) return open(config, work);
  const done = await open(config, async (context) => {
    const used = await find(context.store);
    // Without a setting in `public`, as before there were other schemas.
    const placed = used === null || used.schema === 'public' ? config : { ...config, DATABASE_SCHEMA: used.schema };
    return used?.isVisible === false ? { placed } : { result: await work(context, placed) };
  });
  return 'result' in done ? done.result : open(done.placed, work);
}

/** Runs work that only reads, in sessions that can do nothing else, with the database of another URL. */
export async function withReadOnlyDatabase<Result>(
  shell: Shell,
  config: Config,
  databaseUrl: string,
  work: (context: OperatorContext) => Promise<Result>,
): Promise<Result> {
  const url = new URL(inSchema(databaseUrl, config));
  const options = `${url.searchParams.get('options') ?? ''} -c default_transaction_read_only=on`.trim();
  url.searchParams.set('options', options);
  return withStore(shell, config, { databaseUrl: url.href, timeouts: backgroundTimeouts }, work);
}

async function withStore<Result>(
  { service, warn }: Shell,
  config: Config,
  connections: Pick<StoreOptions, 'databaseUrl' | 'directUrl' | 'prepares' | 'timeouts'>,
  work: (context: DatabaseContext, config: Config) => Promise<Result>,
): Promise<Result> {
  const store = createStore({
    ...connections,
    tables: service.tables,
    applicationName,
    maxConnections: 1,
    onNotifyError: () => warn('Could not notify the worker; it picks this up on its next poll.'),
    slowStatement: {
      thresholdMs: config.SLOW_STATEMENT_MS,
      onSlow: ({ name, durationMs, rows }) =>
        warn(`slow statement: ${name}, ${durationMs} ms, ${rows === null ? 'failed' : `${rows} rows`}`),
    },
  });
  try {
    const context = {
      store,
      service,
      gidNamespace: config.GID_NAMESPACE,
      now: () => new Date(),
      random: systemRandom,
      operator: { name: config.OPERATOR_NAME ?? userName(), host: hostname(), requestId: randomUUID() },
    };
    return await work(context, config);
  } catch (error) {
    throw toAccessError(
      error,
      connections.databaseUrl,
      () =>
        `This command needs the login of the owner of the tables, or the one that \`${operatorCommand()} database logins\` prints for operator-cli.`,
    );
  } finally {
    await store.close();
  }
}

/** The build writes events too, so the first write of a command records it. */
function registerBeforeWrites({ build, warn }: Shell, store: Store): Store {
  const register = createRegistration({ database: store, app: 'operator-cli', id: randomUUID(), ...build });
  let recorded: Promise<unknown> | undefined;
  const beforeWrite = () =>
    (recorded ??= register().catch((error: unknown) =>
      warn(`The build of this command was not recorded: ${String(error)}`),
    ));
  return {
    ...store,
    async transaction(work) {
      await beforeWrite();
      return store.transaction(work);
    },
    async write(write) {
      await beforeWrite();
      return store.write(write);
    },
  };
}

/**
 * The keys of webhook secrets.
 *
 * @throws {Error} if WEBHOOK_SECRET_KEYS is not set, and the database is not that of a running development environment
 */
export function readSecretKeys(shell: Shell): SecretKeyRing {
  const keys = findSecretKeys(readOperatorConfig(shell));
  if (keys === undefined) {
    throw new Error('This command needs the keys of webhook secrets. Set WEBHOOK_SECRET_KEYS as for the apps.');
  }
  return createSecretKeyRing(keys);
}

/** Without the triggers of a migration, for example, the database would not record changes in the audit log. */
async function requireDatabase(context: OperatorContext): Promise<void> {
  const [ofDatabase] = await findDatabaseProblems(context.store, context.service, 'operator');
  const problem = ofDatabase ?? (await findServiceProblems(context.store, context))[0];
  if (problem !== undefined) throw new Error(problem.replace(/^t/, 'T'));
}

/** A container can run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}

/** Applies the migrations that this build needs, and registers the service. Reports each new cause of a wait. */
export async function migrateDatabase(shell: Shell, options: MigrateOptions): Promise<Migrated> {
  const config = readOperatorConfig(shell);
  if (config.DATABASE_PREPARED_STATEMENTS === 'off' && config.DATABASE_DIRECT_URL === undefined)
    throw new Error(
      'Migrations need a direct connection to the database, not a transaction pooler. Set DATABASE_DIRECT_URL.',
    );
  const databaseUrl = config.DATABASE_DIRECT_URL ?? findDatabaseUrl(config);
  return migrate(databaseUrl, shell.service, {
    ...(config.DATABASE_SCHEMA !== undefined && { schema: config.DATABASE_SCHEMA }),
    defaults: defaultPlaceOf(shell.service),
    gidNamespace: config.GID_NAMESPACE,
    ...options,
    onWait: onNewWait(shell.warn),
    onUnregistered: (problem) => shell.warn(`${problem}.`),
    onAbsentRoles: (consequences) => shell.warn(`${consequences}.`),
  }).catch((error: unknown) => {
    throw toAccessError(
      error,
      databaseUrl,
      ({ database, login }) =>
        `Migrations need the login that owns the tables. For a new database, run as its owner: grant create on database ${database} to ${login}`,
    );
  });
}
