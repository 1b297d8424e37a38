import { run, workspaceRoot } from '@deedwire/checks';
import { type InterfaceName, firm } from '@deedwire/firm';
import { type AppProcess, type AppProcessOptions, startAppProcess } from '../app-process.ts';
import { startChild } from '../child.ts';
import type { ProcessUsage } from '../rounds.ts';
import type { Defer } from '../with-cleanup.ts';
import { peerNames } from './peer-names.ts';
import type { Caller, Callers, World } from './world.ts';

/** A GraphQL server in its own process. */
export interface Contestant {
  name: string;
  /** Of its interface. */
  url: string;
  callers: Callers;
  /** The headers that name the caller. */
  headersOf(caller: Caller): Record<string, string>;
  usage(): Promise<ProcessUsage>;
}

/** Starts our app of an interface. */
export async function startOurs(
  { appDatabaseUrls, secretKeys, callers }: World,
  interfaceName: InterfaceName,
  { name, ...options }: Pick<OurAppOptions, 'built' | 'checkout' | 'env'> & { name: string },
  defer: Defer,
): Promise<Contestant> {
  const databaseUrl = appDatabaseUrls[interfaceName];
  const { url, usage } = await startOurApp(defer, interfaceName, { databaseUrl, secretKeys, ...options });
  return { name, url, callers, usage, headersOf: ({ credentials }) => credentials };
}

/** Starts all peers. */
export async function startPeers({ databaseUrl, callers }: World, defer: Defer): Promise<Contestant[]> {
  const contestants: Contestant[] = [];
  for (const name of peerNames) {
    const child = await startChild<string, ProcessUsage>(defer, './graphql/peer-process.ts', name, databaseUrl);
    contestants.push({
      name,
      url: child.ready,
      callers,
      headersOf: ({ accountId, credentials }) =>
        name === 'mercurius-guarded' ? credentials : { 'x-account-id': accountId },
      usage: () => child.ask('usage'),
    });
  }
  return contestants;
}

interface OurAppOptions extends Pick<AppProcessOptions, 'built' | 'checkout'> {
  databaseUrl: string;
  /** As in WEBHOOK_SECRET_KEYS. */
  secretKeys: string;
  /** Added to the environment of the app. */
  env?: AppProcessOptions['env'];
}

/** Starts the app of an interface with the settings of production. */
export async function startOurApp(
  defer: Defer,
  interfaceName: InterfaceName,
  { databaseUrl, secretKeys, built, env = {}, checkout }: OurAppOptions,
): Promise<AppProcess & { url: string }> {
  const app = await startAppProcess(defer, {
    app: `${interfaceName}-api`,
    built,
    env: {
      DATABASE_URL: databaseUrl,
      WEBHOOK_SECRET_KEYS: secretKeys,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      SHUTDOWN_DELAY_MS: '0',
      // On a busy machine, the default would turn slow responses into 503, which fail the bench.
      DATABASE_TIMEOUT_MS: '60000',
      ...env,
    },
    checkout,
  });
  return { ...app, url: `${app.url ?? ''}${firm.interfaces[interfaceName].path}/graphql` };
}

export async function buildApps(apps: readonly string[]): Promise<void> {
  const filters = apps.map((app) => `--filter=@deedwire/${app}`);
  const options = ['run', 'build', ...filters, '--output-logs=errors-only'];
  const { succeeded, output } = await run('turbo', options, workspaceRoot);
  if (!succeeded) throw new Error(`The apps do not build:\n${output}`);
}
