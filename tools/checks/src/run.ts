import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';

export const workspaceRoot = join(import.meta.dirname, '../../..');

export interface CommandResult {
  succeeded: boolean;
  /** Standard output and standard error, interleaved. */
  output: string;
  /** Shown even if the check succeeded. */
  warnings?: string;
  /** True if the other checks cannot run after this failure. */
  isBlocking?: boolean;
}

export interface ToolResult extends CommandResult {
  /** Standard output only. */
  stdout: string;
}

/**
 * Runs a tool of the workspace by name and captures its output. The default folder is the workspace root.
 *
 * @param furtherEnv further variables of its environment
 */
export function run(
  tool: string,
  toolArguments: readonly string[],
  cwd = workspaceRoot,
  furtherEnv: Readonly<Record<string, string>> = {},
): Promise<ToolResult> {
  const env = { ...toolEnvironment(), ...furtherEnv };
  const child = spawn(tool, toolArguments, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [all, standard]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => {
    all.push(chunk);
    standard.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => all.push(chunk));
  return new Promise((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      const output = error.code === 'ENOENT' ? `${tool} is not installed` : error.message;
      resolve({ succeeded: false, output, stdout: '' });
    });
    child.on('close', (code) => resolve({ succeeded: code === 0, output: text(all), stdout: text(standard) }));
  });
}

function text(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString();
}

function toolEnvironment(): NodeJS.ProcessEnv {
  const inherited = process.env;
  return {
    ...inherited,
    PATH: [join(workspaceRoot, 'node_modules/.bin'), inherited['PATH']].join(delimiter),
    TURBO_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
    // Of the compiler and the linter, which are written in Go: a seventh less CPU time, for half more memory.
    GOGC: '200',
  };
}
