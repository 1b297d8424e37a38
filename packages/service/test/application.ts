import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileBlocks } from '@deedwire/testing';

/** Of this package. */
export const root = join(import.meta.dirname, '..');

/** A folder of an application outside of the workspace, which has this package. */
export async function createApplication(packageJson: object): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-application-'));
  await writeFile(join(folder, 'package.json'), JSON.stringify(packageJson));
  await mkdir(join(folder, 'node_modules/@deedwire'), { recursive: true });
  await symlink(root, join(folder, 'node_modules/@deedwire/service'));
  return folder;
}

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

interface Run {
  command: readonly string[];
  databaseUrl?: string;
}

/** Runs a module, which finds the sources of this package, and resolves with its exit code and what it prints. */
export function nodeIn(folder: string, { command, databaseUrl = '' }: Run): Promise<{ code: number; output: string }> {
  return promisify(execFile)(process.execPath, ['--conditions=deedwire-source', ...command], {
    cwd: folder,
    // Another program can have the default ports of the interfaces.
    env: { ...process.env, DATABASE_URL: databaseUrl, CUSTOMER_API_PORT: '0', PATIENT_API_PORT: '0' },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, output: `${stdout}${stderr}` }),
    ({ code, stdout, stderr }: Ended) => ({ code, output: `${stdout}${stderr}` }),
  );
}

export const bin = join(root, 'src/bin.ts');

/** Runs `deedwire`. */
export const deedwireIn = (folder: string, ...command: readonly string[]) =>
  nodeIn(folder, { command: [bin, ...command] });

/** What the compiler says of the files of the service, with the settings of this workspace. */
export async function compileIn(folder: string): Promise<string> {
  const { compilerOptions } = JSON.parse(
    (await readFile(join(root, '../../tsconfig.base.json'), 'utf8')).replaceAll(/^\s*\/\/.*$/gm, ''),
  );
  return compileBlocks(folder, 'deedwire/**/*.ts', compilerOptions);
}
