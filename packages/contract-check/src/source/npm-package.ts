import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InputError, errorField, failAt } from '../input-error.ts';
import { filesOfTarball, type PackageFiles } from './package-files.ts';

/**
 * A package and a range or dist-tag, without `npm:`: `@books/ledger-api@^1`. The range may be omitted. npm takes other names and
 * ranges for options or folders.
 */
const specification = /^(?:@[\w.~-]+\/)?(?![.-])[\w.~-]+(?:@[\w.^~<>=*+|-]+)?$/;

/** A version on the registry and its files. */
export interface PublishedPackage {
  readonly version: string;
  readonly files: PackageFiles;
}

/** Downloads the releases that `select` returns of those on the registry. `npmrc`: the text of the one that applies, if any. */
export function publishedPackages(
  name: string,
  select: (versions: readonly string[]) => readonly string[],
  npmrc: string | null,
): Promise<PublishedPackage[]> {
  // No registry has such a name.
  if (!specification.test(name)) return Promise.resolve([]);
  return inTemporaryFolder(npmrc, async (folder) => {
    const published: PublishedPackage[] = [];
    for (const version of select(await publishedVersions(name, folder)))
      published.push({ version, files: await pack(`${name}@${version}`, folder, folder) });
    return published;
  });
}

/** Returns what npm prints. */
async function npm(args: readonly string[], cwd?: string): Promise<string> {
  // npm is a script on Windows, which only a shell runs. The specification contains no characters of a shell.
  return (await promisify(execFile)('npm', args, { cwd, shell: process.platform === 'win32' })).stdout;
}

async function publishedVersions(name: string, folder: string): Promise<string[]> {
  try {
    const printed: unknown = JSON.parse(await npm(['view', name, 'versions', '--json', '--prefer-online'], folder));
    return [printed].flat().filter((version) => typeof version === 'string');
  } catch (error) {
    if (/"code":\s*"E404"/.test(errorField(error, 'stdout'))) return [];
    failAt(`npm:${name}`, 'npm cannot read the versions of the package. Check the registry.', {
      cause: error,
    });
  }
}

/** Downloads `NAME` or `NAME@RANGE` with the npm of this machine. By default, the `.npmrc` of the current folder applies. */
export async function npmPackageFiles(name: string, npmrc?: string | null): Promise<PackageFiles> {
  if (!specification.test(name)) failAt(`npm:${name}`, 'must be npm:NAME@RANGE or npm:NAME@RANGE:PATH');
  return inTemporaryFolder(npmrc ?? null, (folder) => pack(name, folder, npmrc === undefined ? undefined : folder));
}

/** Runs `use` with a folder in which only the given settings of npm apply, besides those of the user. */
async function inTemporaryFolder<T>(npmrc: string | null, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'contract-check-npm-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    if (npmrc !== null) writeFileSync(join(folder, '.npmrc'), npmrc);
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Downloads a tarball into a temporary folder, with the settings of npm in `cwd`. */
async function pack(name: string, folder: string, cwd?: string): Promise<PackageFiles> {
  const label = `npm:${name}`;
  try {
    const args = ['pack', name, '--ignore-scripts', '--silent', '--pack-destination', folder];
    await npm(args, cwd);
    const tarball = readdirSync(folder).find((file) => file.endsWith('.tgz'));
    if (tarball === undefined) failAt(label, 'npm found no package');
    const files = filesOfTarball(join(folder, tarball), label);
    rmSync(join(folder, tarball));
    return files;
  } catch (error) {
    if (error instanceof InputError) throw error;
    failAt(label, 'npm cannot download the package. Check its name, its range and the registry.', {
      cause: error,
    });
  }
}
