import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ports that Linux (from 32768) and macOS (from 49152) assign.
const lowest = 16_384;
const highest = 32_767;
/** The ports that this process has found, which their callers may not use yet. */
const found = new Set<number>();

/**
 * Finds a free TCP port on 127.0.0.1 that the system assigns to no connection and to no server without a fixed port. So it
 * stays free while a server that listens on it restarts. A process that asks for this port can take it before the caller.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 1; attempt <= 100; attempt += 1) {
    const port = randomInt(lowest, highest + 1);
    if (found.has(port)) continue;
    found.add(port);
    if (await isPortFree(port)) return port;
  }
  throw new Error('No free TCP port was found on 127.0.0.1.');
}

/** Whether a server can listen on a port of 127.0.0.1. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
