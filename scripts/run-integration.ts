import { spawn } from 'node:child_process';
import { join } from 'node:path';

const workspace = join(import.meta.dirname, '..');

/**
 * Runs the integration tests in a process of their own: those of files whose paths contain one of the texts, or all.
 *
 * @returns the exit code
 */
export function runIntegration(files: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  // In a run of vitest, its variables would make this one a worker of it.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'));
  const run = spawn(join(workspace, 'node_modules/.bin/vitest'), ['run', '--project', 'integration', ...files], {
    cwd: workspace,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: 'inherit',
  });
  return new Promise((resolve) => {
    run.once('exit', (code) => resolve(code ?? 1));
  });
}
