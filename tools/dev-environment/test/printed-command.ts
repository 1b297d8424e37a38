import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { workspaceRoot } from '../src/workspace.ts';
import type { DevHome, DevProcess } from './dev-process.ts';

/** The command that `pnpm dev` printed last: it causes an event. */
export async function printedCommand(dev: DevProcess): Promise<string> {
  const pattern = /^npx -y pnpm@[\d.]+ operator (?:.*\\\n)*.*$/m;
  await expect.poll(dev.output).toMatch(pattern);
  return pattern.exec(dev.output())?.[0] ?? '';
}

/** Runs an operator command as it is documented, with the variables of the account to try. Returns its output. */
export async function runOperator({ path }: Pick<DevHome, 'path'>, command: string): Promise<string> {
  const main = join(workspaceRoot, 'tools/dev-environment/src/operator.ts');
  const operator = command.replace(/^npx -y pnpm@[\d.]+ operator/, `"$NODE" --conditions=deedwire-source ${main}`);
  const { stdout } = await promisify(execFile)('sh', ['-c', `. ${path}/dev.env\n${operator}`], {
    env: { ...process.env, NODE: process.execPath, DEEDWIRE_HOME: path },
  });
  return stdout;
}
