import { once } from 'node:events';
import { createServer } from 'node:net';
import { CannotStartError } from './cannot-start-error.ts';

/**
 * Checks that each port is free. Keys are the names of environment variables; port 0 is always free.
 *
 * @throws {CannotStartError} if a port is in use by another process or set by two variables
 */
export async function requireFreePorts(ports: Readonly<Record<string, number>>): Promise<void> {
  const named = Object.entries(ports).filter(([, port]) => port !== 0);
  for (const [index, [variable, port]] of named.entries()) {
    const [other] = named.slice(0, index).find(([, otherPort]) => otherPort === port) ?? [];
    if (other !== undefined) {
      throw new CannotStartError(
        `${variable}: port ${port} is already set by ${other}. Set ${variable} to another port, or to 0 to select a free one.`,
      );
    }
  }
  for (const [variable, port] of named) {
    if (!(await isFree(port))) {
      throw new CannotStartError(
        `${variable}: port ${port} is in use. Set ${variable} to another port, or to 0 to select a free one.`,
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
