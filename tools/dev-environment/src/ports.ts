import { once } from 'node:events';
import { createServer } from 'node:net';
import { CannotStartError } from './home.ts';

/** @throws {CannotStartError} naming the variable whose port another process holds, or another variable names, too */
export async function requireFreePorts(ports: Readonly<Record<string, number>>): Promise<void> {
  const named = Object.entries(ports).filter(([, port]) => port !== 0);
  for (const [index, [variable, port]] of named.entries()) {
    const [other] = named.slice(0, index).find(([, taken]) => taken === port) ?? [];
    if (other !== undefined) {
      throw new CannotStartError(
        `${variable}: port ${port} is that of ${other} already. Set ${variable} to another port, or to 0 for a free one.`,
      );
    }
  }
  for (const [variable, port] of named) {
    if (!(await isFree(port))) {
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
