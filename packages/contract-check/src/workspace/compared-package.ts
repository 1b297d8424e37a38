import type { Change, Notice } from '../change.ts';
import type { PackageFiles } from '../source/package-files.ts';
import type { Baseline } from './baseline.ts';
import type { PackageChanges } from './compare-snapshots.ts';
import type { LastReleaseOf } from './last-release.ts';
import { uniteChanges } from './unite-changes.ts';
import type { MergedState, WorkspaceState } from './workspace-state.ts';

/** What the packages of a workspace are compared with, and how. */
export interface ComparisonContext {
  readonly root: string;
  /** The day of the release, `YYYY-MM-DD` in UTC. */
  readonly today: string;
  readonly now: WorkspaceState;
  /** The files that git has, but that a sparse checkout leaves out. */
  readonly leftOut: PackageFiles;
  /** The state into which the changes will be merged. Null outside a git repository. */
  readonly merged: MergedState | null;
  /** The baselines that the caller names, by package. */
  readonly named: ReadonlyMap<string, Baseline>;
  readonly override: OverrideAt;
  readonly lastRelease: LastReleaseOf;
}

/**
 * Applies the overrides to a change.
 *
 * @param file the path of the file in the working tree, relative to the root
 * @param before its paths where the changes will be merged and in the last release, which patterns of merged overrides match:
 * to move a file does not change its policy.
 */
export type OverrideAt = (change: Change, file: string, before: readonly string[]) => Change;

/** A package whose contracts were compared with each of its last releases. */
export interface ComparedPackage {
  readonly name: string;
  /** Relative to the root, with `/` as the separator. */
  readonly path: string;
  /** From `package.json`. Null if it has no version. */
  readonly version: string | null;
  /** The version where the changes will be merged. Null if the package is new, or has no version. */
  readonly versionBefore: string | null;
  /** The packages that serve the contracts and are released with them. */
  readonly servedBy: readonly string[];
  /** Empty before the first release. */
  readonly releases: readonly ComparedRelease[];
  /** The files, by path relative to the root, that git has to contain, because no release elsewhere does. */
  readonly inGit: readonly string[];
  readonly notices: readonly Notice[];
}

/** A release, and the changes since. */
export interface ComparedRelease extends PackageChanges {
  readonly name: string;
  /** Null if it is unknown. */
  readonly version: string | null;
}

/** Combines what was compared of the same package. */
export function combine(compared: readonly ComparedPackage[]): ComparedPackage[] {
  const packages = Map.groupBy(compared, ({ name, path }) => `${name}\n${path}`);
  return [...packages.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const all = [first, ...others];
    const releases = Map.groupBy(
      all.flatMap((each) => each.releases),
      ({ name, version }) => `${name}\n${version ?? ''}`,
    );
    return [
      {
        ...first,
        servedBy: [...new Set(all.flatMap(({ servedBy }) => servedBy))],
        releases: [...releases.values()].flatMap(([release, ...rest]) =>
          release === undefined ? [] : [{ ...release, ...uniteChanges([release, ...rest]) }],
        ),
        inGit: [...new Set(all.flatMap(({ inGit }) => inGit))],
        notices: [...new Set(all.flatMap(({ notices }) => notices))],
      },
    ];
  });
}
