import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { succeed } from './command.ts';
import { tarballsOf } from './packed-packages.ts';

/** A project outside the workspace in which the published packages are installed, as `pnpm release` packs them. */
export interface InstalledPackages {
  folder: string;
  /** Writes a file of the project and returns its path. */
  write(path: string, text: string): Promise<string>;
  remove(): Promise<void>;
}

/** The packages that depend on another one of them. */
const dependents = ['@deedwire/service', '@deedwire/webhook-receiver'];

/** @param others further packages to install, as arguments of `npm install` */
export async function installPackages(names: readonly string[], others: readonly string[]): Promise<InstalledPackages> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-installed-'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  // npm asks a registry for a dependency that the same command installs.
  await npmInstall(folder, await tarballsOf(names.filter((name) => !dependents.includes(name))));
  await npmInstall(folder, [...(await tarballsOf(names.filter((name) => dependents.includes(name)))), ...others]);
  return {
    folder,
    async write(path, text) {
      const file = join(folder, path);
      await writeFile(file, text);
      return file;
    },
    async remove() {
      await rm(folder, { recursive: true });
    },
  };
}

/** @param packages as arguments of `npm install` */
export async function npmInstall(folder: string, packages: readonly string[]): Promise<void> {
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await succeed('npm', ['install', ...options, ...packages], { cwd: folder });
}

export function readJson(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
