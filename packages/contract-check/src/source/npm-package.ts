import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InputError } from '../input-error.ts';
import { filesOfTarball, type PackageFiles } from './package-files.ts';

/** A package and a range or dist-tag, without `npm:`: `@books/ledger-api@^1`. The range may be omitted. */
const specification = /^(?:@[\w.~-]+\/)?[\w.~-]+(?:@[^:\s]+)?$/;

/**
 * Downloads a package with the npm of this machine, and reads its files.
 *
 * @param name `NAME` or `NAME@RANGE`, where the range is a version, a range or a dist-tag
 * @throws {InputError} when npm does not find the package.
 */
export async function npmPackageFiles(name: string): Promise<PackageFiles> {
  const label = `npm:${name}`;
  if (!specification.test(name)) throw new InputError(label, null, 'must be npm:NAME@RANGE or npm:NAME@RANGE:PATH');
  const folder = mkdtempSync(join(tmpdir(), 'contract-check-npm-'));
  try {
    const args = ['pack', name, '--ignore-scripts', '--silent', '--pack-destination', folder];
    // npm is a script on Windows, which only a shell runs. The specification contains no characters of a shell.
    await promisify(execFile)('npm', args, { shell: process.platform === 'win32' });
    const [tarball] = readdirSync(folder);
    if (tarball === undefined) throw new InputError(label, null, 'npm found no package');
    return filesOfTarball(join(folder, tarball), label);
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(label, null, 'npm cannot download the package. Check its name, its range and the registry.', {
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
