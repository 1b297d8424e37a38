/** `pnpm dev`: runs the whole system until it is stopped, and keeps its data. */
import { join, relative, resolve } from 'node:path';
import type { OperatorContext } from '@deedwire/actions';
import { appOf, interfaceNamesOf, type Service, variableOf } from '@deedwire/core';
import {
  claimDatabase,
  createDevPortalLink,
  type DatabaseState,
  type DevAccounts,
  describeStartError,
  type DevDatabase,
  fail,
  headersOf,
  migrateDevDatabase,
  onOutputLost,
  openDevDatabase,
  pauseReceiver,
  print,
  requireFreePorts,
  subscribeReceiver,
  watchParents,
  withSeedContext,
} from '@deedwire/development';
import {
  callersFolder,
  hasEntryFiles,
  isDefault,
  type Layout,
  loadPayloads,
  loadService,
  readChosenLayout,
} from '@deedwire/layout';
import type { AddCommands, FirstSteps, Seed } from '@deedwire/operator';
import { readConfig } from '@deedwire/service-runtime';
import { databaseAddress, defaultPlaceOf } from '@deedwire/store';
import * as ownEvents from '@deedwire/webhook-contract';
import type { EventPackage } from '@deedwire/webhook-receiver';
import { ofKey } from './account-key.ts';
import { appsOf, perAppOf } from './app-process.ts';
import type { Application } from './application.ts';
import { buildPortal } from './build-portal.ts';
import { devHelp, type DevOptions, parseDevOptions, UsageError } from './command-line.ts';
import { type DevConfig, devConfigOf, portsOf, systemPorts } from './dev-config.ts';
import { callersOf, type DevCallers, devVariables, toDevFile } from './dev-file.ts';
import { isSiteBuilt, serveSite } from './documentation.ts';
import { formatLine, formatLogLine, isRoutineLine } from './format-log-line.ts';
import { type Home, homeOf, openHome } from './home.ts';
import { seedDatabase, withLiveCredentials } from './sample-data.ts';
import { type SampleReceiver, startSampleReceiver } from './sample-receiver.ts';
import { createAppLoginsOf, keepRunning, startSystemOf, type SystemOf } from './start-system.ts';
import { welcome } from './welcome.ts';
import { workspaceRoot } from './workspace.ts';

const stopping = new AbortController();

interface Served {
  readonly layout: Layout;
  readonly service: Service;
  readonly seed: Seed;
}

async function readServed(folder: string | undefined): Promise<Served> {
  const layout = await readChosenLayout(folder).catch((cause: Error) => {
    throw new UsageError(cause.message, { cause });
  });
  const { service, seed } = await loadService<AddCommands, Seed>(layout);
  return { layout, service, seed: (await seed?.()) ?? {} };
}

/** For a service that proposes nothing: what every interface and every operator CLI has. */
function defaultFirstSteps(service: Service): FirstSteps {
  const [interfaceName = ''] = interfaceNamesOf(service);
  return {
    interfaceName,
    query: '{ webhookEventTypes { type } }',
    command: `credential issue --account "$${variableOf(interfaceName)}_ID"`,
  };
}

async function dev({ layout, service, seed }: Served, config: DevConfig, options: DevOptions): Promise<void> {
  const interfaceNames = interfaceNamesOf(service);
  const { firstSteps = defaultFirstSteps(service) } = seed;
  const { interfaceName: first } = firstSteps;
  const { headerPrefix: prefix } = service.names;
  const isDeployed = isDefault(layout) && hasEntryFiles(layout);
  const application: Application = { service, interfaceNames, ...(!isDeployed && { folder: layout.root }) };
  const home = await openHome(resolve(config.DEEDWIRE_HOME ?? homeOf(layout)), [
    first,
    ...interfaceNames.filter((name) => name !== first),
  ]);
  await requireFreePorts(portsOf(config, options));

  let running = false;
  let database: DevDatabase | undefined;
  let receiver: SampleReceiver | undefined;
  let system: SystemOf<Service> | undefined;
  // While the system starts, nothing has to be stopped in order: every process that it starts ends with this one.
  async function stop(exitCode: number, reason: string): Promise<void> {
    if (stopping.signal.aborted) return;
    stopping.abort();
    say(`\nStopping: ${reason} …`);
    await home.removeDevFiles();
    await system?.stop();
    await receiver?.close();
    await database?.close();
    say('Stopped.');
    process.exit(exitCode);
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void stop(0, `received ${signal}`));
  onOutputLost((exitCode) => void stop(exitCode, 'the output cannot be written'));
  await watchParents(
    (ended) =>
      void stop(
        0,
        `${ended} has ended, which ran this. To keep it running in a script, see "In a script" in docs/quickstart.md`,
      ),
  );

  say('Preparing the database …');
  database = await openDevDatabase(service, config, home, defaultsOfGiven(service, config));
  void database.ended.then((reason) => {
    return stop(1, `the database server ended: ${reason}`);
  });
  const state = await claimDatabase(service, database.url, home, options);
  const { GID_NAMESPACE: gidNamespace } = config;
  const { schema, url: databaseUrl } = await migrateDevDatabase({ service, gidNamespace }, database, say);
  say(`The database is ${databaseAddress(databaseUrl)}, and its tables are in the schema ${schema}.`);
  const seeding = { databaseUrl, gidNamespace };
  const { accounts, records } = await withSeedContext(service, seeding, (context) =>
    fill(context, seed, { home, state, options }),
  );

  const hasPortal = await buildPortal().then(
    () => true,
    (error: unknown) => {
      say(`The portal could not be built: ${String(error)}`);
      return false;
    },
  );

  // On a free port: `pnpm site` can run beside this.
  const site = config.DOCUMENTATION_URL === undefined && isSiteBuilt() ? await serveSite(0) : undefined;
  if (site !== undefined) say(`Serving the documentation at ${site.url}/`);
  const documentationUrl = config.DOCUMENTATION_URL ?? site?.url;

  say('Starting the apps …');
  // Before the worker, which delivers the events of an earlier run as soon as it starts.
  if (options.receiver) {
    receiver = await startSampleReceiver({
      prefix,
      // The receiver prints others, without their attempts.
      events: (await loadPayloads<EventPackage>(layout)) ?? ownEvents,
      secret: state.webhookSecret,
      port: config.RECEIVER_PORT,
      print: (text) => say(formatLine('receiver', text)),
    });
  }
  system = await startSystemOf(application, {
    // `pnpm dev` creates no logins on a server that it does not own.
    databaseUrls: await (database.isEmbedded
      ? createAppLoginsOf(application, databaseUrl)
      : perAppOf(application, () => databaseUrl)),
    ...systemPorts(service, config),
    webhookSecretKeys: state.webhookSecretKeys,
    portal: hasPortal,
    env: {
      // Any value means that DATABASE_URL is a transaction pooler, which gets neither prepared statements nor settings of a session.
      DATABASE_DIRECT_URL: config.DATABASE_DIRECT_URL ?? '',
      DATABASE_SCHEMA: schema,
      ...(documentationUrl !== undefined && { DOCUMENTATION_URL: documentationUrl }),
      GID_NAMESPACE: gidNamespace,
      LOG_LEVEL: config.LOG_LEVEL,
      WEBHOOK_CALLBACK_POLICY: config.WEBHOOK_CALLBACK_POLICY,
    },
    appEnv: Object.fromEntries(
      interfaceNames.map((name) => {
        const headers = headersOf(service, ofKey(accounts, name));
        return [appOf(name), { GRAPHIQL_HEADERS: JSON.stringify(headers) }];
      }),
    ),
    onLine: (app, line) => {
      const phase = stopping.signal.aborted ? 'stopping' : running ? 'running' : 'starting';
      if (!isRoutineLine(line, phase)) say(formatLogLine(app, line));
    },
  });
  for (const name of appsOf(application)) void keepRunning(system, name, stopping.signal, say);
  const { webhookSecret, webhookSecretKeys } = state;
  const callers = callersOf(application, system, accounts);
  const devFile = toDevFile(system, callers, { databaseUrl, webhookSecretKeys, records });
  if (receiver !== undefined) {
    const subscription = { callbackUrl: receiver.url, webhookSecret };
    const ids = state.receiverSubscriptionIds;
    for (const name of interfaceNames) {
      const subscriber = { url: ofKey(callers, name).url, headers: headersOf(service, ofKey(accounts, name)) };
      ids[name] = await subscribeReceiver(subscriber, { ...subscription, earlierId: ids[name] ?? null });
      await home.saveState();
    }
  }
  const variables = interfaceNames.map((name) => [
    name,
    devVariables(service, ofKey(callers, name), ofKey(accounts, name), webhookSecret),
  ]);
  await home.writeDevFiles(devFile, Object.fromEntries(variables));
  running = true;
  const text = welcome({
    service,
    folder: isDefault(layout) ? null : shortPath(join(workspaceRoot, layout.root)),
    firstSteps,
    callers,
    admin: devFile.admin,
    variablesFiles: new Map(Array.from(home.variablesFiles, ([name, path]) => [name, shortPath(path)])),
    receiverUrl: receiver?.url ?? null,
  });
  say(`\n${text}`);
  if (!hasPortal) return;
  const links = await withSeedContext(service, seeding, (context) =>
    createPortalLinks(context, interfaceNames, accounts, callers),
  );
  say(`The portal of each interface, for ten minutes:\n${links.join('\n')}\n`);
}

/** All apps have the given login: behind a pooler, its own search path finds the tables. Other databases of the server can have the roles. */
function defaultsOfGiven(service: Service, { DATABASE_DIRECT_URL: directUrl }: DevConfig): DevDatabase['place'] {
  return directUrl === undefined ? { defaults: { ...defaultPlaceOf(service), rolePrefix: '' } } : {};
}

/** A link for the sample account of each interface. */
async function createPortalLinks(
  context: OperatorContext,
  interfaceNames: readonly string[],
  accounts: DevAccounts,
  callers: DevCallers,
): Promise<string[]> {
  const links: string[] = [];
  for (const name of interfaceNames) {
    links.push(await createDevPortalLink(context, ofKey(accounts, name), new URL(ofKey(callers, name).url).origin));
  }
  return links;
}

/**
 * Seeds the database once. On later starts, replaces revoked credentials, adds records that were used up and, unless the sample receiver
 * starts, pauses its subscriptions.
 */
async function fill(
  context: OperatorContext,
  seed: Seed,
  { home, state, options }: { home: Home; state: DatabaseState; options: DevOptions },
): Promise<{ accounts: DevAccounts; records: object }> {
  const accounts = state.seed
    ? await withLiveCredentials(context, seed, state.seed)
    : await seedDatabase(context, seed);
  state.seed = accounts;
  await home.saveState();
  if (!options.receiver && (await pauseReceiver(context, state))) {
    say('Paused the subscriptions of the sample receiver, which does not run without --receiver.');
  }
  return { accounts, records: (await seed.ensureRecords?.(context, accounts)) ?? {} };
}

/** Relative to the working directory if the path is inside it. */
function shortPath(path: string): string {
  const fromHere = relative(callersFolder(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}

function say(text: string): void {
  print(`${text}\n`);
}

try {
  const options = parseDevOptions(process.argv.slice(2));
  const served = await readServed(options.service);
  if (options.help) {
    onOutputLost((exitCode) => process.exit(exitCode));
    print(devHelp(served.service));
  } else {
    await dev(served, readConfig(devConfigOf(served.service), process.env), options);
  }
} catch (error) {
  // Otherwise its database has been closed during the start.
  const databaseUrl = process.env['DATABASE_DIRECT_URL']?.trim() || process.env['DATABASE_URL']?.trim() || '';
  if (!stopping.signal.aborted) fail(describeStartError(error, databaseUrl), error instanceof UsageError ? 2 : 1);
}
