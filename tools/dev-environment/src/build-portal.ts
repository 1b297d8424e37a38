import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { workspaceRoot } from './workspace.ts';

/** Builds the pages of the portal, unless they are built. */
export async function buildPortal(): Promise<void> {
  if (existsSync(join(workspaceRoot, 'packages/portal/dist/index.html'))) return;
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
  const turbo = join(workspaceRoot, 'node_modules/.bin/turbo');
  await promisify(execFile)(turbo, ['run', 'build', '--filter', '@deedwire/portal'], { cwd: workspaceRoot, env });
}
