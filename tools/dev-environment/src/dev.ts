/** `pnpm dev`: runs the whole system until it is stopped, and keeps its data. */
import { join, relative, resolve } from 'node:path';
import { createPortalLinkOfAccount } from '@deedwire/actions';
import { appOf } from '@deedwire/core';
import { type InterfaceName, interfaceNames, perInterface } from '@deedwire/firm';
import { ensureRecords, type SampleRecords } from '@deedwire/firm/seed';
import { readConfig } from '@deedwire/service-runtime';
import { messageOf, StoreUnavailableError } from '@deedwire/store';
import { credentialHeaders } from '@deedwire/testing';
import { appsOf } from './app-process.ts';
import { buildPortal } from './build-portal.ts';
import { devHelp, type DevOptions, parseDevOptions, UsageError } from './command-line.ts';
import { devConfig, type DevConfig, portsOf, systemPorts } from './dev-config.ts';
import { claimDatabase, type DevDatabase, migrateDevDatabase, openDevDatabase } from './dev-database.ts';
import { devVariables, toDevFile } from './dev-file.ts';
import type { DatabaseState, DevSeed } from './dev-state.ts';
import { isSiteBuilt, serveSite } from './documentation.ts';
import { firmApplication, interfaceUrls, startSystem, type System } from './firm-system.ts';
import { formatLine, formatLogLine, isRoutineLine } from './format-log-line.ts';
import { type Home, openHome } from './home.ts';
import { watchParents } from './parent-chain.ts';
import { requireFreePorts } from './ports.ts';
import { type SampleReceiver, startSampleReceiver } from './sample-receiver.ts';
import { seed, withLiveCredentials, withSeedContext } from './seed.ts';
import { keepRunning } from './start-system.ts';
import { pauseReceiver, subscribeReceiver } from './subscribe-receiver.ts';
import { fail, onOutputLost, print } from './terminal.ts';
import { welcome } from './welcome.ts';
import { workspaceRoot } from './workspace.ts';

const stopping = new AbortController();

async function dev(config: DevConfig, options: DevOptions): Promise<void> {
  const home = await openHome(resolve(config.DEEDWIRE_HOME ?? join(workspaceRoot, '.local')));
  await requireFreePorts(portsOf(config, options));

  let running = false;
  let database: DevDatabase | undefined;
  let receiver: SampleReceiver | undefined;
  let system: System | undefined;
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
  database = await openDevDatabase(config, home);
  void database.ended.then((reason) => {
    return stop(1, `the database server ended: ${reason}`);
  });
  const state = await claimDatabase(database.url, home);
  await migrateDevDatabase(database, say);
  const { accounts, records } = await fill(database.url, config, home, state, options);

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
      secret: state.webhookSecret,
      port: config.RECEIVER_PORT,
      print: (text) => say(formatLine('receiver', text)),
    });
  }
  system = await startSystem({
    databaseUrls: await database.appUrls(),
    ...systemPorts(config),
    webhookSecretKeys: state.webhookSecretKeys,
    portal: hasPortal,
    env: {
      // Any value means that DATABASE_URL is a transaction pooler, which gets neither prepared statements nor settings of a session.
      DATABASE_DIRECT_URL: config.DATABASE_DIRECT_URL ?? '',
      ...(documentationUrl !== undefined && { DOCUMENTATION_URL: documentationUrl }),
      GID_NAMESPACE: config.GID_NAMESPACE,
      LOG_LEVEL: config.LOG_LEVEL,
      WEBHOOK_CALLBACK_POLICY: config.WEBHOOK_CALLBACK_POLICY,
    },
    appEnv: Object.fromEntries(
      interfaceNames.map((name) => [
        appOf(name),
        { GRAPHIQL_HEADERS: JSON.stringify(credentialHeaders(accounts[name].credential)) },
      ]),
    ),
    onLine: (app, line) => {
      const phase = stopping.signal.aborted ? 'stopping' : running ? 'running' : 'starting';
      if (!isRoutineLine(line, phase)) say(formatLogLine(app, line));
    },
  });
  for (const name of appsOf(firmApplication)) void keepRunning(system, name, stopping.signal, say);
  const { webhookSecret, webhookSecretKeys } = state;
  const devFile = await toDevFile(system, accounts, { databaseUrl: database.url, webhookSecretKeys, records });
  if (receiver !== undefined) {
    const subscription = { callbackUrl: receiver.url, webhookSecret };
    const ids = state.receiverSubscriptionIds;
    for (const name of interfaceNames) {
      ids[name] = await subscribeReceiver(devFile[name], { ...subscription, earlierId: ids[name] ?? null });
      await home.saveState();
    }
  }
  await home.writeDevFiles(
    devFile,
    perInterface((name) => devVariables(devFile[name], accounts[name], webhookSecret)),
  );
  running = true;
  const variablesFiles = perInterface((name) => shortPath(home.variablesFiles[name]));
  say(`\n${welcome({ devFile, variablesFiles, receiverUrl: receiver?.url ?? null })}`);
  if (!hasPortal) return;
  const links = await createPortalLinks(database.url, config, accounts, interfaceUrls(system));
  say(`The portal of each interface, for ten minutes:\n${links.join('\n')}\n`);
}

/** A link for the sample account of each interface. */
async function createPortalLinks(
  databaseUrl: string,
  { GID_NAMESPACE }: DevConfig,
  accounts: DevSeed,
  urls: Record<InterfaceName, string>,
): Promise<string[]> {
  return withSeedContext(databaseUrl, GID_NAMESPACE, async (context) => {
    const links: string[] = [];
    for (const name of interfaceNames) {
      const input = { accountId: accounts[name].id, abilities, actor: 'dev', expiresInSeconds: 600 };
      const portalOrigin = new URL(urls[name]).origin;
      links.push((await createPortalLinkOfAccount({ ...context, portalOrigin }, input)).url);
    }
    return links;
  });
}

const abilities = ['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE'] as const;

/**
 * Seeds the database once. On later starts, replaces revoked credentials, adds records that were used up and, unless the sample receiver
 * starts, pauses its subscriptions.
 */
async function fill(
  databaseUrl: string,
  config: DevConfig,
  home: Home,
  state: DatabaseState,
  options: DevOptions,
): Promise<{ accounts: DevSeed; records: SampleRecords }> {
  return withSeedContext(databaseUrl, config.GID_NAMESPACE, async (context) => {
    const accounts = state.seed ? await withLiveCredentials(context, state.seed) : await seed(context);
    state.seed = accounts;
    await home.saveState();
    if (!options.receiver && (await pauseReceiver(context, state))) {
      say('Paused the subscriptions of the sample receiver, which does not run without --receiver.');
    }
    return { accounts, records: await ensureRecords(context, accounts) };
  });
}

/** Relative to the working directory if the path is inside it. */
function shortPath(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}

function say(text: string): void {
  print(`${text}\n`);
}

try {
  const options = parseDevOptions(process.argv.slice(2));
  if (options.help) {
    onOutputLost((exitCode) => process.exit(exitCode));
    print(devHelp);
  } else {
    await dev(readConfig(devConfig, process.env), options);
  }
} catch (error) {
  const because = error instanceof StoreUnavailableError ? ` (${messageOf(error.cause)})` : '';
  const message = `${messageOf(error)}${because}`;
  // Otherwise its database has been closed during the start.
  if (!stopping.signal.aborted) fail(message, error instanceof UsageError ? 2 : 1);
}
