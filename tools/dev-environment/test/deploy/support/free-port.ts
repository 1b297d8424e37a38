import { createServer } from 'node:net';
import { listen } from '@deedwire/testing';

/** A port that was free a moment ago, for a program that cannot choose one. */
export async function freePort(): Promise<number> {
  const server = await listen(createServer());
  await server.close();
  return server.port;
}
