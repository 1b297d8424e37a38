import type { Server } from 'node:net';
import { listen, type Listening } from '@deedwire/testing';
import { afterAll } from 'vitest';

/** Returns a function that starts a server until the tests of the file have ended, for tests that run at the same time. */
export function serversOfFile(): (server: Server) => Promise<Listening> {
  const opened: Listening[] = [];
  afterAll(() => Promise.all(opened.map((server) => server.close())));
  return async (server) => {
    const listening = await listen(server);
    opened.push(listening);
    return listening;
  };
}
