import { once } from 'node:events';
import { createServer } from 'node:net';
import { CannotStartError } from './command-line.ts';

/**
 * Checks that each port is free. Keys are the names of environment variables; port 0 is always free.
 *
 * @throws {CannotStartError} if a port is set by two variables, or if ports are in use by other processes: with a line for each
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
  const problems: string[] = [];
  for (const [variable, port] of named) {
    if (await isFree(port)) continue;
    problems.push(
      `${variable}: port ${port} is in use. Set ${variable} to another port, or to 0 to select a free one.`,
    );
  }
  if (problems.length > 0) throw new CannotStartError(problems.join('\n'));
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
