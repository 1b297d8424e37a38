import { existsSync } from 'node:fs';
import { commitAt } from '../history/repository.ts';
import { InputError } from '../input-error.ts';
import { npmPackageFiles } from './npm-package.ts';
import { filesOfFolder, filesOfTarball, type PackageFiles } from './package-files.ts';
import { kindOfPlace } from './place.ts';

/**
 * Reads the files of a folder, a tarball of `npm pack`, `git:REF` or `npm:NAME@RANGE`.
 *
 * @param folder the folder in the repository whose files are read from `git:REF`
 * @param npmrc the text of the `.npmrc` that applies to `npm:`. By default, that of the current folder. Null for none.
 */
export async function readFiles(place: string, folder: string, npmrc?: string | null): Promise<PackageFiles> {
  switch (kindOfPlace(place)) {
    case 'git':
      return commitAt(place.slice('git:'.length), folder).tree.files;
    case 'npm':
      return npmPackageFiles(place.slice('npm:'.length), npmrc);
    case 'tarball':
      if (!existsSync(place)) throw new InputError(place, null, 'tarball not found');
      return filesOfTarball(place);
    case 'local': {
      const files = filesOfFolder(place);
      if (files === null) throw new InputError(place, null, 'folder or tarball not found');
      return files;
    }
    case 'input':
    case 'url':
      throw new InputError(place, null, 'is one file, not a folder, a tarball, git:REF or npm:NAME@RANGE');
  }
}
