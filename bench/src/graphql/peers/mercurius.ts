import { fastify } from 'fastify';
import { mercurius } from 'mercurius';
import type { Pool } from 'pg';
import { createPeerContext, type PeerContext, resolvers, typeDefs } from './resolvers.ts';

declare module 'mercurius' {
  // How Mercurius learns the type of the context.
  interface MercuriusContext extends PeerContext {}
}

/** @param jit after how many requests a document is compiled. 0 never compiles. */
export async function startMercurius(pool: Pool, jit: number): Promise<string> {
  const app = fastify();
  await app.register(mercurius, {
    schema: typeDefs,
    resolvers,
    jit,
    context: (request) => createPeerContext(pool, String(request.headers['x-account-id'])),
  });
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/graphql`;
}
