import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { workspaceRoot } from '../workspace-copy.ts';

/** The arguments of Node that start the command line of the test service. Those of a command follow. */
export const operatorStart: readonly string[] = [
  '--conditions=deedwire-source',
  join(workspaceRoot, 'tools/dev-environment/src/operator.ts'),
  '--service',
  join(workspaceRoot, 'tools/test-service'),
];

/** What a statement of an operator's command waits for: the lock of a table that a test holds. */
export const operatorAt = (table: string): string => `
  from pg_locks join pg_stat_activity using (pid)
  where relation = '${table}'::regclass and not granted and application_name = 'deedwire-split' and datname = current_database()`;

/** Starts an operator's command in its own process, and kills it without warning once `expectMoment` does not throw. */
export async function killOperator(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  expectMoment: () => Promise<void>,
  input = '',
): Promise<void> {
  const { child, ended } = startOperator(args, env, input);
  await eventually(async () => {
    expect(child.exitCode).toBe(null);
    await expectMoment();
  });
  child.kill('SIGKILL');
  await ended;
}

/** Starts an operator's command in its own process. `exitCode` is null if it was killed. */
export function startOperator(args: readonly string[], env: Readonly<Record<string, string>>, input = '') {
  const child = spawn(process.execPath, [...operatorStart, ...args], {
    cwd: workspaceRoot,
    // A slow machine would add lines to its errors.
    env: { ...process.env, SLOW_STATEMENT_MS: '0', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A process that was killed does not read it.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [stdout, stderr, exited] = [text(child.stdout), text(child.stderr), once(child, 'exit')];
  const end = async () => {
    await exited;
    return { exitCode: child.exitCode, stdout: await stdout, stderr: await stderr };
  };
  return { child, ended: end() };
}
