import { once } from 'node:events';
import { createServer } from 'node:net';
import { CannotStartError } from './home.ts';

/** @throws {CannotStartError} naming the variable whose port another process holds */
export async function requireFreePorts(ports: Readonly<Record<string, number>>): Promise<void> {
  for (const [variable, port] of Object.entries(ports)) {
    if (port !== 0 && !(await isFree(port))) {
      throw new CannotStartError(
        `${variable}: port ${port} is taken. Set ${variable} to another port, or to 0 for a free one.`,
      );
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
