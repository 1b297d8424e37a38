import type { InterfaceName } from '@deedwire/domain';
import { startChild } from '../child.ts';
import type { ProcessUsage } from '../rounds.ts';
import type { Defer } from '../with-cleanup.ts';
import { type OurAppOptions, startOurApp } from './our-app.ts';
import { peerNames } from './peer-names.ts';
import type { Caller, World } from './world.ts';

/** A GraphQL server in its own process. */
export interface Contestant {
  name: string;
  /** Of its interface. */
  url: string;
  /** The headers that name the caller. */
  headersOf(caller: Caller): Record<string, string>;
  usage(): Promise<ProcessUsage>;
}

/** Starts our app of an interface. */
export async function startOurs(
  { appDatabaseUrls, secretKeys }: World,
  interfaceName: InterfaceName,
  { name, ...options }: Pick<OurAppOptions, 'built' | 'checkout' | 'env'> & { name: string },
  defer: Defer,
): Promise<Contestant> {
  const databaseUrl = appDatabaseUrls[interfaceName];
  const { url, usage } = await startOurApp(defer, interfaceName, { databaseUrl, secretKeys, ...options });
  return { name, url, usage, headersOf: ({ credentials }) => credentials };
}

/** Starts all peers. */
export async function startPeers({ databaseUrl }: World, defer: Defer): Promise<Contestant[]> {
  const contestants: Contestant[] = [];
  for (const name of peerNames) {
    const child = await startChild<string, ProcessUsage>(defer, './graphql/peer-process.ts', name, databaseUrl);
    contestants.push({
      name,
      url: child.ready,
      headersOf: ({ accountId, credentials }) =>
        name === 'mercurius-guarded' ? credentials : { 'x-account-id': accountId },
      usage: () => child.ask('usage'),
    });
  }
  return contestants;
}
