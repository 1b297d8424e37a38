import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import type { Pool } from 'pg';
import { createPeerContext, type PeerContext, resolvers, typeDefs } from './resolvers.ts';

export async function startApollo(pool: Pool): Promise<string> {
  const server = new ApolloServer<PeerContext>({ typeDefs, resolvers });
  const { url } = await startStandaloneServer(server, {
    listen: { port: 0, host: '127.0.0.1' },
    context: async ({ req }) => createPeerContext(pool, String(req.headers['x-account-id'])),
  });
  return url;
}
