import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { workspaceRoot } from '../../src/workspace.ts';

export const run = promisify(execFile);
export const inherited = process.env;

export async function build(): Promise<void> {
  const env = { ...inherited, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
  await run(join(workspaceRoot, 'node_modules/.bin/turbo'), ['run', 'build'], { cwd: workspaceRoot, env });
}

export const noConfiguration = /^The configuration is invalid:\n {2}DATABASE_URL is required\n/;

/** The beginning of what each built app prints without environment variables. */
export const outputs: readonly (readonly [app: string, appArguments: readonly string[], output: RegExp])[] =
  readdirSync(join(workspaceRoot, 'apps')).map((app) =>
    app === 'operator-cli' ? [app, ['--help'], /^Usage: deedwire-operator /] : [app, [], noConfiguration],
  );

/** What a command prints without environment variables. */
export async function outputOf(command: string, commandArguments: readonly string[]): Promise<string> {
  const ran = run(command, commandArguments, { env: {} });
  const { stdout, stderr } = await ran.catch((error: { stdout: string; stderr: string }) => error);
  return stdout + stderr;
}
