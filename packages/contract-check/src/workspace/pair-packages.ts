import type { WorkspacePackage } from './contract-package.ts';

/** A package where the changes will be merged, and in the working tree. One of them is null if it does not exist there. */
export interface PackagePair {
  readonly before: WorkspacePackage | null;
  readonly now: WorkspacePackage | null;
}

/**
 * Pairs the packages of one name. Usually there is one, but a fixture can have the name of a package. A package keeps its folder, or
 * it moves to a folder that is new. If there are several such folders, or none but those of other packages with the name, it is
 * paired with each of them: a copy cannot take its place.
 */
export function pairPackages(before: readonly WorkspacePackage[], now: readonly WorkspacePackage[]): PackagePair[] {
  const folders = new Set(before.map(({ path }) => path));
  const added = now.filter(({ path }) => !folders.has(path));
  const pairs = before.flatMap((old): PackagePair[] => {
    const same = now.filter(({ path }) => path === old.path);
    const [found] = [same, added, now].filter((candidates) => candidates.length > 0);
    return found === undefined ? [{ before: old, now: null }] : found.map((each) => ({ before: old, now: each }));
  });
  const paired = new Set(pairs.map((pair) => pair.now));
  return [...pairs, ...now.filter((each) => !paired.has(each)).map((each) => ({ before: null, now: each }))];
}
