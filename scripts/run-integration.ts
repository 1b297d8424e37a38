import { spawn } from 'node:child_process';
import { join } from 'node:path';

const workspace = join(import.meta.dirname, '..');

/**
 * Runs the integration tests in their own process: those of files whose paths contain one of the texts, or all.
 *
 * @param withSlow the tests of `full` too
 * @returns the exit code
 */
export function runIntegration(
  files: readonly string[],
  env: Readonly<Record<string, string>>,
  withSlow = false,
): Promise<number> {
  // In a run of vitest, its variables would make this one a worker of it.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'));
  const projects = ['--project=integration', ...(withSlow ? ['--project=full'] : [])];
  const run = spawn(join(workspace, 'node_modules/.bin/vitest'), ['run', ...projects, ...files], {
    cwd: workspace,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: 'inherit',
  });
  return new Promise((resolve) => {
    run.once('exit', (code) => resolve(code ?? 1));
  });
}
