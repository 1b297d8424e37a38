import { isPortFree } from '@deedwire/embedded-postgres/server';
import { CannotStartError } from './cannot-start-error.ts';

/**
 * Checks that each port is free. Keys are the names of environment variables; port 0 is always free.
 *
 * @throws {CannotStartError} with a line for each port that is set by two variables or in use by another process
 */
export async function requireFreePorts(ports: Readonly<Record<string, number>>): Promise<void> {
  const variables = new Map<number, string>();
  const problems: string[] = [];
  for (const [variable, port] of Object.entries(ports)) {
    if (port === 0) continue;
    const other = variables.get(port);
    if (other === undefined) variables.set(port, variable);
    const problem = other !== undefined ? `already set by ${other}` : (await isPortFree(port)) ? null : 'in use';
    if (problem !== null)
      problems.push(
        `${variable}: port ${port} is ${problem}. Set ${variable} to another port, or to 0 to select a free one.`,
      );
  }
  if (problems.length > 0) throw new CannotStartError(problems.join('\n'));
}
