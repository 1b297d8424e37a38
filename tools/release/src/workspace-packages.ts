import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A package of the workspace, as releases see it. */
export interface WorkspacePackage {
  name: string;
  version: string;
  /** Relative to the workspace's root: `packages/lender-schema`. */
  path: string;
  /** `public`: published to the registry and tagged. `app`: deployed from here, only tagged. */
  kind: 'public' | 'app' | 'internal';
  /** Names of the packages that it needs installed to work, ours and others'. */
  dependencies: string[];
  /** Whether `repository` is named, which a registry compares with the provenance. */
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

/** Ordered by name. */
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

/** Names of the files in `.changeset/` that wait for `version`. */
export function pendingChangesets(root: string): string[] {
  return readdirSync(join(root, '.changeset')).filter((name) => name.endsWith('.md') && name !== 'README.md');
}
