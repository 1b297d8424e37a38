import type { Pool } from 'pg';
import type { PeerName } from '../peer-names.ts';
import { startApollo } from './apollo.ts';
import { startGuardedMercurius } from './guarded.ts';
import { startMercurius } from './mercurius.ts';

/** Each starts a server and returns the URL of its interface. */
export const peers: Record<PeerName, (pool: Pool) => Promise<string>> = {
  'mercurius-jit': (pool) => startMercurius(pool, 1),
  'mercurius-guarded': startGuardedMercurius,
  mercurius: (pool) => startMercurius(pool, 0),
  apollo: startApollo,
};
