import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, workspaceRoot } from '@deedwire/checks';
import type { InterfaceName } from '@deedwire/domain';
import { type AppProcess, startAppProcess } from '../app-process.ts';
import type { Defer } from '../with-cleanup.ts';

const paths: Record<InterfaceName, string> = { lender: '/lenders/graphql', partner: '/partners/graphql' };

export interface OurAppOptions {
  interfaceName: InterfaceName;
  databaseUrl: string;
  /** As in WEBHOOK_SECRET_KEYS. */
  secretKeys: string;
  /** Run the output of `pnpm build` instead of the sources. */
  built: boolean;
  /** Added to the environment of the app. */
  env?: Readonly<Record<string, string>>;
  /** See `startAppProcess`. */
  checkout?: URL | undefined;
  defer: Defer;
}

/** Starts the app of an interface with the settings of production. */
export async function startOurApp({
  interfaceName,
  databaseUrl,
  secretKeys,
  built,
  env = {},
  checkout,
  defer,
}: OurAppOptions): Promise<Pick<AppProcess, 'usage' | 'count' | 'memory'> & { url: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-bench-log-'));
  defer(() => rm(folder, { recursive: true, force: true }));
  const app = await startAppProcess({
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
    logFile: join(folder, 'app.log'),
    checkout,
  });
  defer(() => app.stop());
  return {
    url: `${app.url ?? ''}${paths[interfaceName]}`,
    usage: () => app.usage(),
    count: (metricName) => app.count(metricName),
    memory: () => app.memory(),
  };
}

export async function buildApps(apps: readonly string[]): Promise<void> {
  const filters = apps.map((app) => `--filter=@deedwire/${app}`);
  const { succeeded, output } = await run(
    'turbo',
    ['run', 'build', ...filters, '--output-logs=errors-only'],
    workspaceRoot,
  );
  if (!succeeded) throw new Error(`The apps do not build:\n${output}`);
}
