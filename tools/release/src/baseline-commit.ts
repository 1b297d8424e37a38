import { git } from './git.ts';
import { tagOf } from './plan.ts';
import type { WorkspacePackage } from './workspace-packages.ts';

/**
 * Where the last release of a package is in the history.
 *
 * - `released`: the tag of the version, or the commit in which `package.json` reached it.
 * - `imported`: the first commit of the history, or of the package, already has the version.
 * - `uncommitted`: `package.json` reaches the version in the working tree.
 * - `unknown`: the clone is shallow and does not contain the commit.
 */
export type BaselineCommit =
  | { readonly kind: 'released'; readonly commit: string; readonly isTag: boolean }
  | { readonly kind: 'imported'; readonly commit: string }
  | { readonly kind: 'uncommitted' }
  | { readonly kind: 'unknown' };

/** @param tags the tags that are reachable from HEAD */
export async function findBaselineCommit(
  root: string,
  of: WorkspacePackage,
  tags: ReadonlySet<string>,
): Promise<BaselineCommit> {
  if (tags.has(tagOf(of))) return { kind: 'released', commit: tagOf(of), isTag: true };
  const file = `${of.path}/package.json`;
  const touching = (await git(root, 'log', '--format=%H', 'HEAD', '--', file))
    .split('\n')
    .filter((each) => each !== '');
  let reached: string | null = null;
  for (const commit of touching) {
    if ((await versionAt(root, commit, file)) !== of.version) break;
    reached = commit;
  }
  if (reached === null) return touching.length === 0 ? { kind: 'unknown' } : { kind: 'uncommitted' };
  if (reached !== touching.at(-1)) return { kind: 'released', commit: reached, isTag: false };
  // The oldest commit of a shallow clone seems to add every file.
  const isShallow = (await git(root, 'rev-parse', '--is-shallow-repository')).trim() === 'true';
  return isShallow ? { kind: 'unknown' } : { kind: 'imported', commit: reached };
}

/** Null if the commit removed the file. */
async function versionAt(root: string, commit: string, file: string): Promise<string | null> {
  const listed = await git(root, 'ls-tree', commit, '--', file);
  if (listed === '') return null;
  const { version }: { version: string } = JSON.parse(await git(root, 'show', `${commit}:${file}`));
  return version;
}
