import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';

export const workspaceRoot = join(import.meta.dirname, '..');

export interface CommandResult {
  succeeded: boolean;
  /** Standard output and standard error, as they came. */
  output: string;
}

/** Runs a tool of the workspace by its name and keeps what it prints. */
export function run(tool: string, toolArguments: readonly string[]): Promise<CommandResult> {
  const child = spawn(tool, toolArguments, {
    cwd: workspaceRoot,
    env: toolEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ succeeded: false, output: error.message }));
    child.on('close', (code) => resolve({ succeeded: code === 0, output: Buffer.concat(chunks).toString() }));
  });
}

function toolEnvironment(): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- what the tools inherit
  const inherited = process.env;
  return {
    ...inherited,
    PATH: [join(workspaceRoot, 'node_modules/.bin'), inherited['PATH']].join(delimiter),
    TURBO_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
  };
}
