import { ReleaseError } from './release-error.ts';
import type { WorkspacePackage } from './workspace-packages.ts';

export interface ReleasePlan {
  /** What the registry does not have, each after those that it depends on. */
  publish: WorkspacePackage[];
  /** Whose tag is missing: what is published now, what an interrupted run has published, and apps. */
  tag: WorkspacePackage[];
}

export interface ReleaseState {
  /** Name → the versions that the registry has. */
  published: ReadonlyMap<string, readonly string[]>;
  tags: ReadonlySet<string>;
}

export function tagOf({ name, version }: WorkspacePackage): string {
  return `${name}@${version}`;
}

/** What is left to do. Empty when everything was released. */
export function planRelease(packages: readonly WorkspacePackage[], { published, tags }: ReleaseState): ReleasePlan {
  const missing = packages.filter(
    ({ kind, name, version }) => kind === 'public' && !(published.get(name) ?? []).includes(version),
  );
  return {
    publish: inDependencyOrder(missing),
    tag: packages.filter((each) => each.kind !== 'internal' && !tags.has(tagOf(each))),
  };
}

/** Each after those of the list that it depends on. Throws a ReleaseError for a cycle. */
export function inDependencyOrder(packages: readonly WorkspacePackage[]): WorkspacePackage[] {
  const ordered: WorkspacePackage[] = [];
  let left = [...packages];
  while (left.length > 0) {
    const names = new Set(left.map(({ name }) => name));
    const ready = left.filter(({ dependencies }) => !dependencies.some((dependency) => names.has(dependency)));
    if (ready.length === 0) throw new ReleaseError(`These packages depend on each other: ${[...names].join(', ')}`);
    ordered.push(...ready);
    left = left.filter((each) => !ready.includes(each));
  }
  return ordered;
}
