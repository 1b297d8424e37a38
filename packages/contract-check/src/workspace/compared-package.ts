import type { Notice } from '../change.ts';
import type { ApplyOverrides } from '../config/apply-overrides.ts';
import type { CommitFiles } from '../history/repository.ts';
import type { Baseline } from './baseline.ts';
import type { ContractChange } from './compare-snapshots.ts';
import type { LastReleaseOf } from './last-release.ts';
import { uniteChanges } from './unite-changes.ts';
import type { MergedState, WorkspaceState } from './workspace-state.ts';

/** What the packages of a workspace are compared with, and how. */
export interface ComparisonContext {
  readonly root: string;
  /** The day of the release, `YYYY-MM-DD` in UTC. */
  readonly today: string;
  readonly now: WorkspaceState;
  /** The state into which the changes will be merged, and its files. Null outside a git repository. */
  readonly merged: MergedState | null;
  readonly tree: CommitFiles | null;
  /** The baselines that the caller names, by package. */
  readonly named: ReadonlyMap<string, Baseline>;
  readonly override: ApplyOverrides;
  readonly lastRelease: LastReleaseOf;
}

/** A package whose contracts were compared with a baseline. */
export interface ComparedPackage {
  readonly name: string;
  /** Relative to the root, with `/` as the separator. */
  readonly path: string;
  /** From `package.json`. Null if it has no version. */
  readonly version: string | null;
  /** The packages that serve the contracts and are released with them. */
  readonly servedBy: readonly string[];
  /** Null before the first release. `version` is null if it is unknown. */
  readonly baseline: { readonly name: string; readonly version: string | null } | null;
  readonly changes: readonly ContractChange[];
  readonly notices: readonly Notice[];
}

/** Combines what was compared of the same package. */
export function combine(compared: readonly ComparedPackage[]): ComparedPackage[] {
  const packages = new Map<string, ComparedPackage>();
  for (const each of compared) {
    const other = packages.get(each.name);
    packages.set(each.name, other === undefined ? each : combineTwo(other, each));
  }
  return [...packages.values()];
}

function combineTwo(one: ComparedPackage, other: ComparedPackage): ComparedPackage {
  const found = [one.baseline, other.baseline].filter((baseline) => baseline !== null);
  const names = new Set(found.map(({ name }) => name));
  return {
    ...one,
    servedBy: [...new Set([...one.servedBy, ...other.servedBy])],
    baseline: found.length === 0 ? null : { name: [...names].join(', '), version: found[0]?.version ?? null },
    ...uniteChanges([one, other]),
  };
}
