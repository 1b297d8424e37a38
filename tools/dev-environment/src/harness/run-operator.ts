import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { workspaceRoot } from '../workspace.ts';

export interface OperatorResult {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

const main = join(workspaceRoot, 'apps/operator-cli/src/main.ts');

/** Runs `deedwire-operator` as a process. Its environment is `env` only; it inherits nothing from this process. */
export function runOperator(env: Record<string, string>, ...commandArguments: string[]): Promise<OperatorResult> {
  const child = spawn(process.execPath, ['--conditions=deedwire-source', main, ...commandArguments], { env });
  const result: OperatorResult = { exitCode: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (result.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (result.stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ ...result, exitCode }));
  });
}
