import { vi } from 'vitest';
import { run } from '../../src/cli/run.ts';

/**
 * Runs a command line in the process of the test, with a folder as the working directory, because git resolves places from there.
 * Returns what it prints.
 */
export async function runInFolder(
  folder: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const before = process.cwd();
  process.chdir(folder);
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  try {
    const { stdout, stderr } = await run(args, undefined, variables);
    return stdout + stderr;
  } finally {
    vi.unstubAllEnvs();
    process.chdir(before);
  }
}
