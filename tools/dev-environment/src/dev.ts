/** `pnpm dev`: the whole system, left running, its data kept. */
import { join, resolve } from 'node:path';
import { readConfig } from '@deedwire/service-runtime';
import { createStore, migrate, StoreUnavailableError } from '@deedwire/store';
import type { AppName } from './app-process.ts';
import { curlLines } from './curl-lines.ts';
import { devConfig, type DevConfig } from './dev-config.ts';
import { openDevDatabase, type DevDatabase } from './dev-database.ts';
import { toDevFile } from './dev-file.ts';
import type { DatabaseState, DevSeed } from './dev-state.ts';
import { formatLogLine } from './format-log-line.ts';
import { openHome, type Home } from './home.ts';
import { keepRunning } from './keep-running.ts';
import { claimDatabase } from './own-database.ts';
import { watchParents } from './parent-chain.ts';
import { requireFreePorts } from './ports.ts';
import { ensureOpenReferrals, seed, withLiveCredentials } from './seed.ts';
import { startSystem, type System } from './start-system.ts';
import { workspaceRoot } from './workspace.ts';

const appNames: readonly AppName[] = ['lender-api', 'partner-api', 'webhook-worker'];

async function dev(config: DevConfig): Promise<void> {
  const { LENDER_API_PORT, PARTNER_API_PORT, WEBHOOK_WORKER_PORT } = config;
  const home = await openHome(resolve(config.DEEDWIRE_HOME ?? join(workspaceRoot, '.local')));
  await requireFreePorts({ LENDER_API_PORT, PARTNER_API_PORT, WEBHOOK_WORKER_PORT });

  const stopping = new AbortController();
  let database: DevDatabase | undefined;
  let system: System | undefined;
  // Before everything runs there is nothing to stop in order: what was started ends with this process.
  async function stop(exitCode: number): Promise<void> {
    if (stopping.signal.aborted) return;
    stopping.abort();
    await home.removeDevFile();
    await system?.stop();
    await database?.close();
    process.exit(exitCode);
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
  await watchParents(() => void stop(0));

  say('Preparing the database …');
  database = await openDevDatabase(config, home);
  void database.ended.then((reason) => {
    if (!stopping.signal.aborted) say(`The database is gone: ${reason}`);
    return stop(1);
  });
  const state = await claimDatabase(database.url, home);
  await migrate(database.directUrl);
  const { accounts, referrals } = await fill(database.url, config, home, state);

  say('Starting the apps …');
  system = await startSystem({
    databaseUrls: await database.appUrls(),
    ports: { 'lender-api': LENDER_API_PORT, 'partner-api': PARTNER_API_PORT, 'webhook-worker': WEBHOOK_WORKER_PORT },
    webhookSecretKeys: state.webhookSecretKeys,
    env: {
      // The embedded server needs none: each app's own login serves it.
      DATABASE_DIRECT_URL: config.DATABASE_URL === undefined ? '' : database.directUrl,
      GID_NAMESPACE: config.GID_NAMESPACE,
      LOG_LEVEL: config.LOG_LEVEL,
      WEBHOOK_CALLBACK_POLICY: config.WEBHOOK_CALLBACK_POLICY,
    },
    onLine: (app, line) => say(formatLogLine(app, line)),
  });
  for (const name of appNames) void keepRunning(system, name, stopping.signal, say);
  const devFile = toDevFile(system, accounts, database.url, referrals);
  await home.writeDevFile(devFile);
  say(
    `\nDeedwire runs; Ctrl-C stops it. Keys and URLs are in ${home.devFile}. To begin with:\n\n${curlLines(devFile)}\n`,
  );
}

/** Seeds once; later starts find working keys and enough open referrals all the same. */
async function fill(
  databaseUrl: string,
  config: DevConfig,
  home: Home,
  state: DatabaseState,
): Promise<{ accounts: DevSeed; referrals: string[] }> {
  const store = createStore({ databaseUrl, applicationName: 'deedwire-dev' });
  // The worker is not up yet; it looks for work when it starts.
  const context = { store, gidNamespace: config.GID_NAMESPACE, notify: () => {} };
  try {
    const accounts = state.seed ? await withLiveCredentials(context, state.seed) : await seed(context);
    state.seed = accounts;
    await home.saveState();
    return { accounts, referrals: await ensureOpenReferrals(context, accounts.partner.id) };
  } finally {
    await store.close();
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  // oxlint-disable-next-line node/no-process-env -- the one place where `pnpm dev` reads it
  await dev(readConfig(devConfig, process.env));
} catch (error) {
  const because =
    error instanceof StoreUnavailableError && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}${because}\n`, () => process.exit(1));
}
