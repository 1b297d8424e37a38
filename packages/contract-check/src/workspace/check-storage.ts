import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { ContractKind } from '../config/config.ts';
import type { Repository } from '../history/repository.ts';
import { failAt } from '../input-error.ts';
import { referencedFiles } from '../json-schema/schema-document.ts';
import type { PackageFiles } from '../source/package-files.ts';
import type { SourceText } from '../text-file.ts';
import { isListed } from './listed-contracts.ts';
import type { MergedState, WorkspaceState } from './workspace-state.ts';

/** Checks that commits contain what is read in the working tree, so that a later comparison reads what was released. */
export function checkStorage(root: string, now: WorkspaceState, repository: Repository): void {
  const isRead = (path: string): boolean =>
    ['package.json', 'versions.json'].includes(posix.basename(path)) || isListed(now, path);
  const head = repository.filesAt(repository.head);
  const link = head.brokenLinks.find((path) => existsSync(join(root, path)) && isRead(path));
  if (link !== undefined)
    failAt(
      join(root, link),
      'is a symbolic link to something that is not in the repository, so nothing shows later what was released. Commit the file itself.',
    );
  // An attribute comes from a file in the commit. Without one, git need not be asked for the attributes of all files.
  const hasAttributes = [...head.all.keys()].some((path) => posix.basename(path) === '.gitattributes');
  if (!hasAttributes) return;
  // Each attribute is unspecified or unset.
  const unconverted = ['!', '-'].flatMap((encoding) =>
    ['!', '-'].map((filter) => `:(exclude,attr:${encoding}working-tree-encoding ${filter}filter)`),
  );
  const converted = repository
    .git('ls-files', '-z', '--', '.', ...unconverted)
    .split('\0')
    .find((path) => path !== '' && isRead(path));
  if (converted !== undefined)
    failAt(
      join(root, converted),
      'has another content in the repository than in the working tree. Remove "working-tree-encoding" and "filter" (for example of Git LFS) for it from .gitattributes.',
    );
}

/** Checks that git has files, or will once they are committed: otherwise a later check would take a release to lack them. */
export function checkTracked(root: string, paths: readonly string[], { repository, tree }: MergedState): void {
  const head = repository.filesAt(repository.head);
  const untracked = paths.filter((path) => !head.files.has(path) && head.fileAt(path) === null);
  if (untracked.length === 0) return;
  const listed = repository.git('ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ':/');
  const kept = new Set(listed.split('\0'));
  const broken = new Set(head.brokenLinks);
  const lost = untracked.find((path) => tree.files.has(path) || !kept.has(path) || broken.has(path));
  if (lost !== undefined)
    failAt(
      join(root, lost),
      'is not in the git repository: it is ignored, was removed from git, is in another repository, or is a link to such a file. So nothing shows later what was released. Commit the file, or compare with a release that contains it, on the registry or at a baseline.',
    );
}

/** The contracts that no release outside of git contains, and the files to which they refer, by path. */
export function filesInGit(
  contracts: readonly { readonly kind: ContractKind; readonly path: string; readonly read: () => SourceText }[],
  outside: readonly PackageFiles[],
): string[] {
  return contracts
    .filter(({ path }) => !outside.some((files) => files.has(path)))
    .flatMap(({ kind, path, read }) => [
      path,
      ...(kind === 'json-schema' ? referencedFiles(read()) : []).map((other) => posix.join(posix.dirname(path), other)),
    ]);
}
