import type { WorkspacePackage } from './contract-package.ts';
import type { WorkspaceMembers } from './workspace-members.ts';

/** A package where the changes will be merged, and in the working tree. One of them is null if it does not exist there. */
export interface PackagePair {
  readonly before: WorkspacePackage | null;
  readonly now: WorkspacePackage | null;
}

/**
 * Pairs the packages of one name. Usually there is one, but a fixture can have the name of a package. A package keeps its folder, or
 * it moves to a folder that is new. If there are several such folders, or none but those of other packages with the name, it is
 * paired with each of them: a copy cannot take its place. Nor can one that the root lists as a member of the workspace, so that
 * it is published, while the package stays where it is.
 */
export function pairPackages(
  before: readonly WorkspacePackage[],
  now: readonly WorkspacePackage[],
  members: WorkspaceMembers,
): PackagePair[] {
  const folders = new Set(before.map(({ path }) => path));
  const added = now.filter(({ path }) => !folders.has(path));
  const pairs = before.flatMap((old): PackagePair[] => {
    const same = now.filter(({ path }) => path === old.path);
    const [found = []] = [same, added, now].filter((candidates) => candidates.length > 0);
    const all = new Set([...found, ...added.filter(({ path }) => members.includes(path))]);
    return all.size === 0 ? [{ before: old, now: null }] : [...all].map((each) => ({ before: old, now: each }));
  });
  const paired = new Set(pairs.map((pair) => pair.now));
  return [...pairs, ...now.filter((each) => !paired.has(each)).map((each) => ({ before: null, now: each }))];
}
