import { join } from 'node:path';
import { run, type ToolResult } from '@deedwire/checks';
import { ReleaseError } from './release-error.ts';

/** The published versions of a package. */
export interface Published {
  versions: string[];
  /** The version that the dist-tag `latest` names. Null if nothing is published. */
  latest: string | null;
}

/** The npm registry, accessed through npm and its configuration. */
export interface Registry {
  versionsOf(name: string): Promise<Published>;
  /** Downloads a tarball into a folder and returns its path. */
  download(name: string, version: string, folder: string): Promise<string>;
  publish(tarball: string, options: { provenance: boolean }): Promise<void>;
}

/** @param url null for the registry in npm's configuration */
export function openRegistry(url: string | null): Registry {
  const where = url === null ? [] : ['--registry', url];

  async function npm(...npmArguments: string[]): Promise<ToolResult> {
    // A cached response could miss a version that was just published.
    return run('npm', [...npmArguments, ...where, '--prefer-online', '--loglevel=error']);
  }

  return {
    async versionsOf(name) {
      const { succeeded, stdout, output } = await npm('view', name, 'versions', 'dist-tags.latest', '--json');
      const view = parse(stdout);
      if (succeeded) return { versions: [view.versions ?? []].flat(), latest: view['dist-tags.latest'] ?? null };
      if (view.error?.code === 'E404') return { versions: [], latest: null };
      throw new ReleaseError(`Could not read the versions of ${name} from the registry:\n${output.trim()}`);
    },

    async download(name, version, folder) {
      const { succeeded, stdout, output } = await npm(
        'pack',
        `${name}@${version}`,
        '--json',
        '--pack-destination',
        folder,
      );
      const [packed]: { filename: string }[] = succeeded ? JSON.parse(stdout) : [];
      if (packed === undefined) throw new ReleaseError(`Could not download ${name}@${version}:\n${output.trim()}`);
      return join(folder, packed.filename);
    },

    async publish(tarball, { provenance }) {
      const flag = provenance ? '--provenance' : '--no-provenance';
      const { succeeded, output } = await npm('publish', tarball, '--access', 'public', '--ignore-scripts', flag);
      if (!succeeded) throw new ReleaseError(`Could not publish ${tarball}:\n${output.trim()}`);
    },
  };
}

interface NpmView {
  /** npm prints a string if there is only one version. */
  versions?: string | string[];
  'dist-tags.latest'?: string;
  error?: { code?: string };
}

function parse(stdout: string): NpmView {
  try {
    return JSON.parse(stdout);
  } catch {
    return {};
  }
}
