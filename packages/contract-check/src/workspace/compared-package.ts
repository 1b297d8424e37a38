import { join, posix } from 'node:path';
import { changeBy, type Change, type Notice } from '../change.ts';
import type { PackageFiles } from '../source/package-files.ts';
import { compareVerdicts } from '../verdict.ts';
import type { Baseline } from './baseline.ts';
import { compareSnapshots, wholeFileChange, type ContractChange, type PackageChanges } from './compare-snapshots.ts';
import type { PackageSettings } from './contract-package.ts';
import type { LastReleaseOf } from './last-release.ts';
import { isListed } from './listed-contracts.ts';
import { workspaceRules } from './rules.ts';
import type { Snapshot } from './snapshot.ts';
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
 * @param before its paths where the changes will be merged and in the latest release, which patterns of merged overrides match:
 * to move a file does not change its policy.
 */
type OverrideAt = (change: Change, file: string, before: readonly string[]) => Change;

/** A package whose contracts were compared with each of its latest releases. */
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

/** The contracts of a package, or of an entry of the configuration, in a release and in the working tree. */
interface ReleasedContracts {
  readonly name: string;
  readonly from: Snapshot;
  readonly to: Snapshot;
  /** The folder of the files relative to the root, in the working tree. */
  readonly folder: string;
  /** Those where the changes will be merged and in the release. */
  readonly foldersBefore: readonly string[];
  /** The strictest comparison results from comparing by each of them. */
  readonly settings: readonly PackageSettings[];
  /** States of a file that is still there, but no longer compared, for what the configuration does not list it. */
  readonly unlistedFor: string;
}

/** The changes since a release. */
export function compareRelease(
  context: ComparisonContext,
  { name, from, to, folder, foldersBefore, settings, unlistedFor }: ReleasedContracts,
): PackageChanges {
  const { root, today, now } = context;
  const overrideIn = (change: Change, file: string): Change => {
    const before = foldersBefore.map((each) => posix.join(each, file));
    return context.override(change, posix.join(folder, file), before);
  };
  const unlisted = [...from.contracts.values()]
    .filter(({ path, kind }) => to.contracts.has(path) && !isListed(now, posix.join(folder, path), name, kind))
    .map(({ path, read }) => {
      const message = `${path} is no longer compared, because the configuration does not list it${unlistedFor}.`;
      const change = changeBy(workspaceRules.contractRemoved, path, message);
      const found = wholeFileChange(change, path, read().file, join(root, folder, path));
      return { ...found, breaksReleased: settings.some(({ frozen }) => frozen === true) };
    });
  return uniteChanges([
    { changes: unlisted, notices: [] },
    ...settings.map((each) => compareSnapshots(from, to, join(root, folder), each, today, overrideIn)),
  ]);
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

/** The changes of several comparisons of one package. Of those that differ in the verdict only, the largest one counts. */
export function uniteChanges(found: readonly PackageChanges[]): PackageChanges {
  const changes = new Map<string, ContractChange>();
  for (const change of found.flatMap((each) => each.changes)) {
    const key = [change.file, change.coordinate, change.message].join('\n');
    const other = changes.get(key);
    if (other === undefined || isStricter(change, other)) changes.set(key, change);
  }
  const notices = new Map<string, Notice>(
    found.flatMap((each) => each.notices).map((notice) => [`${notice.location.file}\n${notice.message}`, notice]),
  );
  return { changes: [...changes.values()], notices: [...notices.values()] };
}

function isStricter(one: ContractChange, other: ContractChange): boolean {
  if (one.breaksReleased !== other.breaksReleased) return one.breaksReleased;
  return compareVerdicts(one.verdict, other.verdict) > 0;
}
