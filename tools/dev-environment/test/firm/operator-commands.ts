import { expect } from 'vitest';
import type { DevHome, DevProcess } from '../dev-process.ts';
import { runOperator } from '../printed-command.ts';

/** As `runOperator`. Returns the id of the referral, or of the team member. */
export async function runForId(home: Pick<DevHome, 'path'>, command: string): Promise<string> {
  const [id = 'none'] = /gid:\/\/service\/(?:Referral|TeamMember)\/\d+/.exec(await runOperator(home, command)) ?? [];
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
