import { ReleaseError } from './release-error.ts';
import type { WorkspacePackage } from './workspace-packages.ts';

export interface ReleasePlan {
  /** Packages that the registry does not have, each after its dependencies. */
  publish: WorkspacePackage[];
  /** Packages and apps without a tag: to be published now, or published by an interrupted run. */
  tag: WorkspacePackage[];
}

export interface ReleaseState {
  /** Package name → versions on the registry. */
  published: ReadonlyMap<string, readonly string[]>;
  tags: ReadonlySet<string>;
}

export function tagOf({ name, version }: WorkspacePackage): string {
  return `${name}@${version}`;
}

/** The packages to publish and to tag. Both lists are empty if everything is released. */
export function planRelease(packages: readonly WorkspacePackage[], { published, tags }: ReleaseState): ReleasePlan {
  const missing = packages.filter(
    ({ kind, name, version }) => kind === 'public' && !(published.get(name) ?? []).includes(version),
  );
  return {
    publish: inDependencyOrder(missing),
    tag: packages.filter((each) => each.kind !== 'internal' && !tags.has(tagOf(each))),
  };
}

/**
 * Sorts packages so that each comes after its dependencies.
 *
 * @throws {ReleaseError} if the dependencies form a cycle
 */
export function inDependencyOrder(packages: readonly WorkspacePackage[]): WorkspacePackage[] {
  const ordered: WorkspacePackage[] = [];
  let left = [...packages];
  while (left.length > 0) {
    const names = new Set(left.map(({ name }) => name));
    const ready = left.filter(({ dependencies }) => !dependencies.some((dependency) => names.has(dependency)));
    if (ready.length === 0)
      throw new ReleaseError(`These packages depend on each other in a cycle: ${[...names].join(', ')}`);
    ordered.push(...ready);
    left = left.filter((each) => !ready.includes(each));
  }
  return ordered;
}
