import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A free port below those that an operating system assigns for port 0. After its server was killed, no other server gets the
 * port by chance, so a request to it has no response, and never that of another server.
 */
export async function choosePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return port;
    } catch {
      // In use.
    } finally {
      server.close();
    }
  }
}
