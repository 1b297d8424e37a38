import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gt, lt, major, minor, prerelease, rsort } from 'semver';
import { ReleaseError } from './release-error.ts';

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

export function tagOf({ name, version }: Pick<WorkspacePackage, 'name' | 'version'>): string {
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

/**
 * The dist-tag of a version: `latest`, unless a higher version is published. A fix of an older major gets `latest-<major>`, and
 * a fix of an older minor `latest-<major>.<minor>`, so that it does not replace the version that `npm install` chooses.
 *
 * @param published the versions on the registry. Pre-releases are ignored.
 * @throws {ReleaseError} if the version is a pre-release
 */
export function distTagOf(version: string, published: readonly string[]): string {
  const higher = releasesBeside(version, published).filter((each) => gt(each, version));
  if (higher.length === 0) return 'latest';
  const isOlderMinor = higher.some((each) => major(each) === major(version));
  return isOlderMinor ? `latest-${major(version)}.${minor(version)}` : `latest-${major(version)}`;
}

/**
 * The published version that consumers of a version come from: the highest one below it. Null if there is none.
 *
 * @throws {ReleaseError} if the version is a pre-release
 */
export function predecessorOf(version: string, published: readonly string[]): string | null {
  const lower = releasesBeside(version, published).filter((each) => lt(each, version));
  return rsort(lower)[0] ?? null;
}

function releasesBeside(version: string, published: readonly string[]): string[] {
  if (prerelease(version) !== null)
    throw new ReleaseError(`${version} is not a release: only versions such as 1.2.3 are published.`);
  return published.filter((each) => prerelease(each) === null);
}

/** A package of the workspace with the properties that a release needs. */
export interface WorkspacePackage {
  name: string;
  version: string;
  /** Path relative to the workspace root: `packages/webhook-signing`. */
  path: string;
  /** `public` packages are published and tagged, apps are only tagged, internal packages neither. */
  kind: 'public' | 'app' | 'internal';
  /** Names of all runtime dependencies, including packages of other projects. */
  dependencies: string[];
  devDependencies: string[];
  /** True if `package.json` names a `repository`, which provenance needs. */
  hasRepository: boolean;
}

interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  repository?: unknown;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** Reads all packages of the workspace, sorted by name. */
export function readWorkspacePackages(root: string): WorkspacePackage[] {
  return globSync(['{packages,apps,tools}/*/package.json', 'examples/{clinic,orders}/package.json'], { cwd: root })
    .map((file) => {
      const manifest: Manifest = JSON.parse(readFileSync(join(root, file), 'utf8'));
      const path = dirname(file).replaceAll('\\', '/');
      const kind = manifest.private !== true ? 'public' : path.startsWith('apps/') ? 'app' : 'internal';
      return {
        name: manifest.name,
        version: manifest.version,
        path,
        kind,
        dependencies: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
        devDependencies: Object.keys(manifest.devDependencies ?? {}),
        hasRepository: manifest.repository !== undefined,
      } satisfies WorkspacePackage;
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names of the pending changesets in `.changeset/`. */
export function pendingChangesets(root: string): string[] {
  return readdirSync(join(root, '.changeset')).filter((name) => name.endsWith('.md') && name !== 'README.md');
}
