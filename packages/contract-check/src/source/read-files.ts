import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../input-error.ts';
import { gitFiles } from './git-files.ts';
import { npmPackageFiles } from './npm-package.ts';
import { filesOfFolder, filesOfTarball, type PackageFiles } from './package-files.ts';
import { kindOfPlace } from './place.ts';

export interface FilesContext {
  /** The folder to which a local place is relative. */
  readonly root: string;
  /** The folder in the repository whose files are read from `git:REF`. */
  readonly folder: string;
  /** The names of folders to leave out of a local folder. */
  readonly skippedFolders: ReadonlySet<string>;
}

/**
 * Reads files from a folder, a tarball of `npm pack`, `git:REF` or `npm:NAME@RANGE`.
 *
 * @throws {InputError} when they cannot be read.
 */
export async function readFiles(place: string, { root, folder, skippedFolders }: FilesContext): Promise<PackageFiles> {
  const kind = kindOfPlace(place);
  if (kind === 'git') return gitFiles(place.slice('git:'.length), folder);
  if (kind === 'npm') return npmPackageFiles(place.slice('npm:'.length));
  const path = join(root, place);
  if (!existsSync(path)) throw new InputError(path, null, 'folder or tarball not found');
  if (!statSync(path).isDirectory()) return filesOfTarball(path);
  return filesOfFolder(path, skippedFolders) ?? new Map();
}
