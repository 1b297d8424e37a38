import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InterfaceName } from '@deedwire/domain';
import { type ProcessUsage, startAppProcess } from '../app-process.ts';
import { startChild } from '../child.ts';
import type { Defer } from '../with-cleanup.ts';
import { type PeerName, peerNames } from './peer-names.ts';
import type { Caller, World } from './world.ts';

/** A GraphQL server in its own process. */
export interface Contestant {
  name: 'deedwire' | PeerName;
  /** Of its interface. */
  url: string;
  /** The headers that name the caller. */
  headersOf(caller: Caller): Record<string, string>;
  usage(): Promise<ProcessUsage>;
}

const paths: Record<InterfaceName, string> = { lender: '/lenders/graphql', partner: '/partners/graphql' };

/**
 * Starts our app of an interface, and all peers.
 *
 * @param built run the output of `pnpm build` instead of the sources
 */
export async function startContestants(
  world: World,
  interfaceName: InterfaceName,
  built: boolean,
  defer: Defer,
): Promise<Contestant[]> {
  const contestants = [await startOurs(world, interfaceName, built, defer)];
  for (const name of peerNames) {
    const { child, ready: url } = await startChild<string, ProcessUsage>(
      './graphql/peer-process.ts',
      name,
      world.databaseUrl,
    );
    defer(() => child.close());
    contestants.push({
      name,
      url,
      headersOf: ({ accountId }) => ({ 'x-account-id': accountId }),
      usage: () => child.ask('usage'),
    });
  }
  return contestants;
}

/** With the settings of production. */
async function startOurs(
  world: World,
  interfaceName: InterfaceName,
  built: boolean,
  defer: Defer,
): Promise<Contestant> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-bench-log-'));
  defer(() => rm(folder, { recursive: true, force: true }));
  const app = await startAppProcess({
    app: `${interfaceName}-api`,
    built,
    env: {
      DATABASE_URL: world.appDatabaseUrls[interfaceName],
      WEBHOOK_SECRET_KEYS: world.secretKeys,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      SHUTDOWN_DELAY_MS: '0',
      // On a busy machine, the default would turn slow responses into 503, which fail the bench.
      DATABASE_TIMEOUT_MS: '60000',
    },
    logFile: join(folder, 'app.log'),
  });
  defer(() => app.stop());
  return {
    name: 'deedwire',
    url: `${app.url ?? ''}${paths[interfaceName]}`,
    headersOf: ({ credentials }) => credentials,
    usage: () => app.usage(),
  };
}
