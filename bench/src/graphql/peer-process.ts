/**
 * Runs one peer in this process: `peer-process.ts <name> <URL of the database>`. Its first message is the URL that it serves;
 * then it sends its usage for each message.
 */
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { fastify } from 'fastify';
import { mercurius } from 'mercurius';
import { Pool } from 'pg';
import { serveParent } from '../child.ts';
import { ownUsage } from '../rounds.ts';
import type { PeerName } from './peer-names.ts';
import { startGuardedMercurius } from './peers/guarded.ts';
import { createPeerContext, type PeerContext, resolvers, typeDefs } from './peers/resolvers.ts';

declare module 'mercurius' {
  // How Mercurius learns the type of the context.
  interface MercuriusContext extends PeerContext {}
}

const [name = '', databaseUrl = ''] = process.argv.slice(2);
const pool = new Pool({ connectionString: databaseUrl });

/** @param jit after how many requests a document is compiled. 0 never compiles. */
async function startMercurius(jit: number): Promise<string> {
  const app = fastify();
  await app.register(mercurius, {
    schema: typeDefs,
    resolvers,
    jit,
    context: (request) => createPeerContext(pool, String(request.headers['x-account-id'])),
  });
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/graphql`;
}

async function startApollo(): Promise<string> {
  const server = new ApolloServer<PeerContext>({ typeDefs, resolvers });
  const { url } = await startStandaloneServer(server, {
    listen: { port: 0, host: '127.0.0.1' },
    context: async ({ req }) => createPeerContext(pool, String(req.headers['x-account-id'])),
  });
  return url;
}

const peers: Record<PeerName, () => Promise<string>> = {
  'mercurius-jit': () => startMercurius(1),
  'mercurius-guarded': () => startGuardedMercurius(pool),
  mercurius: () => startMercurius(0),
  apollo: startApollo,
};
const start = new Map(Object.entries(peers)).get(name);
if (start === undefined) throw new Error(`There is no peer "${name}".`);
serveParent(await start(), ownUsage);
