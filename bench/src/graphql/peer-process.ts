/**
 * Runs one peer in this process: `peer-process.ts <name> <URL of the database>`. Its first message is the URL that it serves;
 * then it sends its usage for each message.
 */
import { Pool } from 'pg';
import { serveParent } from '../child.ts';
import { ownUsage } from '../rounds.ts';
import type { PeerName } from './peer-names.ts';
import { startApollo } from './peers/apollo.ts';
import { startGuardedMercurius } from './peers/guarded.ts';
import { startMercurius } from './peers/mercurius.ts';

const peers: Record<PeerName, (pool: Pool) => Promise<string>> = {
  'mercurius-jit': (pool) => startMercurius(pool, 1),
  'mercurius-guarded': startGuardedMercurius,
  mercurius: (pool) => startMercurius(pool, 0),
  apollo: startApollo,
};

const [name = '', databaseUrl = ''] = process.argv.slice(2);
const start = new Map(Object.entries(peers)).get(name);
if (start === undefined) throw new Error(`There is no peer "${name}".`);
serveParent(await start(new Pool({ connectionString: databaseUrl })), ownUsage);
