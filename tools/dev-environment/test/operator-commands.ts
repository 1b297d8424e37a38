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

/**
 * Runs an operator command as it is documented, with the variables of the sample partner. Returns the id of its referral, or of its
 * team member.
 */
export async function runOperator(home: DevHome, command: string): Promise<string> {
  const main = join(workspaceRoot, 'apps/operator-cli/src/main.ts');
  const operator = command.replace(/^npx -y pnpm@[\d.]+ operator/, `"$NODE" --conditions=deedwire-source ${main}`);
  const { stdout } = await promisify(execFile)('sh', ['-c', `. ${home.path}/dev.env\n${operator}`], {
    env: { ...process.env, NODE: process.execPath, DEEDWIRE_HOME: home.path },
  });
  const [id = 'none'] = /gid:\/\/service\/(?:Referral|TeamMember)\/\d+/.exec(stdout) ?? [];
  return id;
}

/** Waits until the sample receiver has printed the event. */
export async function waitForWebhook(dev: DevProcess, type: string, id: string): Promise<void> {
  const webhook = new RegExp(
    `^receiver +${type} 2026-11-01, attempt 1\\n {16}\\{\\n[\\s\\S]*"(?:referralId|id)": "${id}"`,
    'm',
  );
  await expect.poll(dev.output).toMatch(webhook);
}
