import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { workspaceRoot } from '../workspace.ts';
import { note } from './narrator.ts';

/** Runs the operator CLI as a separate process and returns its JSON output. */
export async function runOperator(
  databaseUrl: string,
  ...commandArguments: string[]
): Promise<Record<string, unknown>> {
  note(`→ deedwire-operator ${commandArguments.join(' ')} --json`);
  const main = join(workspaceRoot, 'apps/operator-cli/src/main.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=deedwire-source', main, ...commandArguments, '--json'],
    { env: { ...process.env, DATABASE_URL: databaseUrl } },
  );
  note(`← ${stdout.trim()}`);
  return JSON.parse(stdout);
}
