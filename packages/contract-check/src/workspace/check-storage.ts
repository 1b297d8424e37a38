import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Repository } from '../history/repository.ts';
import { InputError } from '../input-error.ts';
import { isContract } from './listed-contracts.ts';
import type { WorkspaceState } from './workspace-state.ts';

/**
 * Checks that the commits of the repository contain what the tool reads in the working tree. Otherwise a later comparison would
 * read something else as what was released.
 *
 * @throws {InputError} when a contract or a `package.json` is a link to something that git does not have, or has another encoding
 */
export function checkStorage(root: string, now: WorkspaceState, repository: Repository): void {
  const isRead = (path: string): boolean =>
    ['package.json', 'versions.json'].includes(posix.basename(path)) || isContract(now, path);
  const head = repository.filesAt(repository.head);
  const link = head.brokenLinks.find((path) => existsSync(join(root, path)) && isRead(path));
  if (link !== undefined)
    throw new InputError(
      join(root, link),
      null,
      'is a symbolic link to something that is not in the repository, so nothing shows later what was released. Commit the file itself.',
    );
  // An encoding comes from a file in the commit. Without one, git need not be asked for the attributes of all files.
  const hasAttributes = [...head.paths].some((path) => posix.basename(path) === '.gitattributes');
  if (!hasAttributes) return;
  const encoded = repository
    .git('ls-files', '-z', '--', '.', ':(exclude,attr:!working-tree-encoding)')
    .split('\0')
    .find((path) => path !== '' && isRead(path));
  if (encoded !== undefined)
    throw new InputError(
      join(root, encoded),
      null,
      'has another encoding in the repository. Remove "working-tree-encoding" from .gitattributes.',
    );
}
