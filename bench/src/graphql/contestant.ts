import type { InterfaceName } from '@deedwire/domain';
import type { ProcessUsage } from '../app-process.ts';
import { startChild } from '../child.ts';
import type { Defer } from '../with-cleanup.ts';
import { startOurApp } from './our-app.ts';
import { type PeerName, peerNames } from './peer-names.ts';
import type { Caller, World } from './world.ts';

/** A GraphQL server in its own process. */
export interface Contestant<Name extends string = 'deedwire' | PeerName> {
  name: Name;
  /** Of its interface. */
  url: string;
  /** The headers that name the caller. */
  headersOf(caller: Caller): Record<string, string>;
  usage(): Promise<ProcessUsage>;
}

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
  const { appDatabaseUrls, secretKeys } = world;
  const ours = await startOurApp({
    interfaceName,
    databaseUrl: appDatabaseUrls[interfaceName],
    secretKeys,
    built,
    defer,
  });
  const contestants: Contestant[] = [{ ...ours, name: 'deedwire', headersOf: ({ credentials }) => credentials }];
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
      headersOf: ({ accountId, credentials }) =>
        name === 'mercurius-guarded' ? credentials : { 'x-account-id': accountId },
      usage: () => child.ask('usage'),
    });
  }
  return contestants;
}
