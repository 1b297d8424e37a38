import { join } from 'node:path';
import { succeed } from './command.ts';
import { workspaceRoot } from './workspace-copy.ts';

/** Global setup of a test project. Builds once: files that build at the same time would read what another one writes. */
export default async function setup(): Promise<void> {
  const env = { TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
  await succeed(join(workspaceRoot, 'node_modules/.bin/turbo'), ['run', 'build'], { cwd: workspaceRoot, env });
}
