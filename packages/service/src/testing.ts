import { randomBytes } from 'node:crypto';
import { type InterfaceName, interfaceNamesOf, interfaceOf, type Service, ServiceError } from '@deedwire/core';
import { generateSecretKeys, headersOf, subscribeReceiver, withSeedContext } from '@deedwire/development';
import { createDatabase, dropDatabase, startPostgres, urlOf, withClient } from '@deedwire/embedded-postgres/server';
import { defaultPlaceOf, migrate, toAccessError, withSchema } from '@deedwire/store';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { createAccountWithKey } from './accounts.ts';
import { requireServedCode } from './interface-code.ts';
import { type ReceivedEvent, startReceiver } from './receiver.ts';
import { startInterface } from './start-interface.ts';
import { startWorker } from './start-worker.ts';

export type { ReceivedEvent } from './receiver.ts';
export { findUnprotectedTables } from './unprotected-tables.ts';

export interface StartServiceOptions {
  /** The URL of a module of the application, `import.meta.url`: the folder `deedwire` beside the nearest `package.json` has the SDL. */
  app: string;
  /** Of the worker and the interfaces, beside what the function sets itself. Nothing of the environment of the process is passed on. */
  env?: Readonly<Record<string, string>>;
}

/** An account of an interface, as a customer of the application has it. */
export interface TestAccount {
  /** The id by which `append` takes it. */
  externalId: string;
  /** Its global identifier. */
  id: string;
  /** Of the GraphQL API of its interface. */
  url: string;
  /** That identify the account to the API. */
  headers: Readonly<Record<string, string>>;
}

/** The server of a customer. It verifies each request, and accepts every event. */
export interface TestReceiver {
  /** The callback URL. */
  url: string;
  /** In the order of arrival. An event that is delivered again is there again. */
  events: readonly ReceivedEvent[];
  /** Why requests were refused: codes of `WebhookVerificationError`. */
  refused: readonly string[];
  /**
   * Subscribes the account of an interface to event types: those of which you give the name at their newest version that is current.
   *
   * @param interfaceName defaults to the first one of the service
   * @returns the global identifier of the subscription
   */
  subscribe(
    eventTypes: readonly (string | { readonly type: string; readonly version: string })[],
    interfaceName?: string,
  ): Promise<string>;
  /**
   * Resolves with all events once `count` have arrived.
   *
   * @param timeoutMs defaults to 30,000
   * @throws {Error} if fewer have arrived then
   */
  waitFor(count: number, timeoutMs?: number): Promise<readonly ReceivedEvent[]>;
}

export interface StartedService<Served extends Service = Service> {
  /** Of the owner. The application connects with it, and can create its own tables. */
  databaseUrl: string;
  /** By the names of the interfaces. */
  accounts: Readonly<Record<InterfaceName & keyof Served['interfaces'], TestAccount>>;
  receiver: TestReceiver;
  /** Stops everything, and removes the database. */
  stop(): Promise<void>;
}

/**
 * Starts a service for a test: a database with its tables, an account of each interface, the worker, the interfaces and a receiver, all in this
 * process. With DATABASE_URL, the database is a new one on that server. Otherwise it is embedded, if `embedded-postgres` is installed. It depends on
 * no test framework.
 *
 * @throws {ServiceError} if the code of an interface differs from its SDL, or its migrations do not register a table of the service
 * @throws {DatabaseAccessError} if the server does not accept the login of DATABASE_URL, or it may create no database
 * @throws {Error} if there is neither a DATABASE_URL nor the package
 */
export async function startService<Served extends Service>(
  service: Served,
  options: StartServiceOptions,
): Promise<StartedService<Served>> {
  /** The last one first. */
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0)) await step();
  };
  try {
    return { ...(await start(service, options, undo)), stop };
  } catch (error) {
    await stop();
    const given = givenUrl();
    throw given === '' ? error : toAccessError(error, given, createsDatabases);
  }
}

async function start<Served extends Service>(
  service: Served,
  { app, env: further = {} }: StartServiceOptions,
  undo: (() => Promise<unknown>)[],
): Promise<Omit<StartedService<Served>, 'stop'>> {
  await requireServedCode(service, app);
  const { url, rolePrefix } = await openDatabase(undo);
  const defaults = defaultPlaceOf(service);
  const unregistered: string[] = [];
  const { place } = await migrate(url, service, {
    defaults: { ...defaults, rolePrefix: rolePrefix ?? defaults.rolePrefix },
    onUnregistered: (problem) => unregistered.push(problem),
  });
  // Nothing would become ready.
  if (unregistered.length > 0) throw new ServiceError(unregistered);
  const { schema } = place;
  const secret = generateWebhookSecret();
  const received = collectEvents();
  const server = await startReceiver({ secret, prefix: service.names.headerPrefix, ...received.listeners });
  undo.unshift(() => server.close());

  const env = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'error',
    HOST: '127.0.0.1',
    PORT: '0',
    WEBHOOK_CALLBACK_POLICY: 'development',
    WEBHOOK_SECRET_KEYS: generateSecretKeys(),
    ...further,
    DATABASE_URL: url,
    DATABASE_SCHEMA: schema,
  };
  const worker = await startWorker(service, { app, env });
  undo.unshift(() => worker.stop());
  const accounts: Record<string, TestAccount> = {};
  const { gidNamespace } = service.names;
  for (const name of interfaceNamesOf(service)) {
    const api = await startInterface(service, name, { app, env });
    undo.unshift(() => api.stop());
    await api.ready;
    const externalId = `test-${name}`;
    const account = await withSeedContext(service, { databaseUrl: withSchema(url, schema), gidNamespace }, (context) =>
      createAccountWithKey(context, name, externalId),
    );
    accounts[name] = {
      externalId,
      id: account.id,
      url: `${api.url}${interfaceOf(service, name).path}/graphql`,
      headers: headersOf(service, account),
    };
  }
  await worker.ready;
  const [first = ''] = interfaceNamesOf(service);
  return {
    databaseUrl: url,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each name
    accounts: accounts as StartedService<Served>['accounts'],
    receiver: {
      url: server.url,
      events: received.events,
      refused: received.refused,
      waitFor: (count, timeoutMs) => received.waitFor(count, timeoutMs),
      subscribe(wanted, interfaceName = first) {
        const account = accounts[interfaceName];
        if (account === undefined) throw new TypeError(`The service has no interface ${interfaceName}.`);
        return subscribeReceiver(account, { callbackUrl: server.url, webhookSecret: secret, earlierId: null, wanted });
      },
    },
  };
}

const givenUrl = (): string => process.env['DATABASE_URL']?.trim() ?? '';

const createsDatabases = ({ login }: { login: string }): string =>
  `\`startService\` creates a database for each test, and migrates it. Run as a superuser: alter role ${login} createdb`;

/** @returns the URL of a new database, and what the names of its roles begin with, where other databases of the server can have those of the service */
async function openDatabase(undo: (() => Promise<unknown>)[]): Promise<{ url: string; rolePrefix: string | null }> {
  const given = givenUrl();
  if (given === '') {
    const server = await startPostgres();
    undo.unshift(() => server.stop());
    return { url: server.url, rolePrefix: null };
  }
  const suffix = randomBytes(6).toString('hex');
  const name = `deedwire_test_${suffix}`;
  const rolePrefix = `test_${suffix}_`;
  await withClient(given, (client) => createDatabase(client, name, 'template1'));
  undo.unshift(() =>
    withClient(given, async (client) => {
      await dropDatabase(client, name);
      const { rows } = await client.query<{ role: string }>(
        'select quote_ident(rolname) as role from pg_roles where starts_with(rolname, $1)',
        [rolePrefix],
      );
      for (const { role } of rows) await client.query(`drop role ${role}`);
    }),
  );
  return { url: urlOf(given, name), rolePrefix };
}

function collectEvents() {
  const events: ReceivedEvent[] = [];
  const refused: string[] = [];
  const waiting = new Set<() => void>();
  return {
    events,
    refused,
    listeners: {
      onEvent(event: ReceivedEvent): void {
        events.push(event);
        for (const look of waiting) look();
      },
      onRefused: (reason: string): void => void refused.push(reason),
    },
    async waitFor(count: number, timeoutMs = 30_000): Promise<readonly ReceivedEvent[]> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const look = (): void => {
        if (events.length >= count) resolve();
      };
      const timer = setTimeout(() => {
        const others = refused.length === 0 ? '' : ` Refused: ${refused.join(', ')}.`;
        reject(new Error(`${events.length} of ${count} events arrived within ${timeoutMs} ms.${others}`));
      }, timeoutMs);
      waiting.add(look);
      look();
      try {
        await promise;
      } finally {
        clearTimeout(timer);
        waiting.delete(look);
      }
      return events;
    },
  };
}
