import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
  const child = spawn(process.execPath, ['--conditions=deedwire-source', 'apps/operator-cli/src/main.ts', ...args], {
    cwd: workspaceRoot,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin?.end(input);
  const ended = once(child, 'exit');
  await eventually(async () => {
    expect(child.exitCode).toBe(null);
    await expectMoment();
  });
  child.kill('SIGKILL');
  await ended;
}
