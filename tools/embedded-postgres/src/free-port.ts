import { once } from 'node:events';
import { createServer } from 'node:net';

/** A TCP port of the loopback interface that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No TCP port is free');
  return address.port;
}
