import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { workspaceRoot } from './workspace.ts';

/**
 * Builds the pages of the portal, unless they are those of the sources: that takes 0.2 s. Needs no network.
 *
 * @throws {Error} with what turbo prints, or that it is not installed
 */
export async function buildPortal(workspace = workspaceRoot): Promise<void> {
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
  const turbo = join(workspace, 'node_modules/.bin/turbo');
  await new Promise<void>((resolve, reject) => {
    execFile(turbo, ['run', 'build', '--filter=@deedwire/portal'], { cwd: workspace, env }, (cause, stdout, stderr) => {
      if (cause === null) resolve();
      else if (cause.code === 'ENOENT') reject(new Error(`${turbo} is missing. Install the dependencies.`, { cause }));
      else reject(new Error(`The portal could not be built:\n${stdout}${stderr}`, { cause }));
    });
  });
}
