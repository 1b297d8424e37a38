import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A package of the workspace with the properties that a release needs. */
export interface WorkspacePackage {
  name: string;
  version: string;
  /** Path relative to the workspace root: `packages/lender-schema`. */
  path: string;
  /** `public` packages are published and tagged, apps are only tagged, internal packages neither. */
  kind: 'public' | 'app' | 'internal';
  /** Names of all runtime dependencies, including packages of other projects. */
  dependencies: string[];
  /** True if `package.json` names a `repository`, which provenance needs. */
  hasRepository: boolean;
}

interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  repository?: unknown;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** Reads all packages of the workspace, sorted by name. */
export function readWorkspacePackages(root: string): WorkspacePackage[] {
  return globSync('{packages,apps,tools}/*/package.json', { cwd: root })
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
        hasRepository: manifest.repository !== undefined,
      } satisfies WorkspacePackage;
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names of the pending changesets in `.changeset/`. */
export function pendingChangesets(root: string): string[] {
  return readdirSync(join(root, '.changeset')).filter((name) => name.endsWith('.md') && name !== 'README.md');
}
