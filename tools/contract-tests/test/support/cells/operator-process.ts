import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { workspaceRoot } from '../workspace-copy.ts';
import type { CellServer } from './cell-servers.ts';

/** Starts an operator's command in a process of its own, and kills it without warning once one of its statements waits for a lock. */
export async function killWaitingOperator(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  server: Pick<CellServer, 'run'>,
  input = '',
): Promise<void> {
  await killOperator(
    args,
    env,
    async () => {
      const waiting = await server.run(`
        select from pg_stat_activity where application_name = 'deedwire-split' and wait_event_type = 'Lock'`);
      expect(waiting).toHaveLength(1);
    },
    input,
  );
}

/** Starts an operator's command in a process of its own, and kills it without warning once `expectMoment` does not throw. */
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

/** Starts an operator's command in a process of its own. `exitCode` is null if it was killed. */
export function startOperator(args: readonly string[], env: Readonly<Record<string, string>>, input = '') {
  const child = spawn(process.execPath, ['--conditions=deedwire-source', 'apps/operator-cli/src/main.ts', ...args], {
    cwd: workspaceRoot,
    env: { ...process.env, ...env },
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
