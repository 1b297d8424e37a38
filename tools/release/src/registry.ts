import { join } from 'node:path';
import { run, type ToolResult } from '@deedwire/checks';
import { ReleaseError } from './release-error.ts';

/** What the registry has of a package. */
export interface Published {
  versions: string[];
  /** The version that the tag `latest` names; null: nothing is published. */
  latest: string | null;
}

/** The npm registry, spoken to by npm: its configuration says which, and how to log in. */
export interface Registry {
  look(name: string): Promise<Published>;
  /** Downloads a tarball into a folder and returns its path. */
  download(name: string, version: string, folder: string): Promise<string>;
  publish(tarball: string, options: { provenance: boolean }): Promise<void>;
}

/** @param url null: the one that npm is configured for */
export function openRegistry(url: string | null): Registry {
  const where = url === null ? [] : ['--registry', url];

  async function npm(...npmArguments: string[]): Promise<ToolResult> {
    // A look-up that was answered from a cache could miss what has just been published.
    return run('npm', [...npmArguments, ...where, '--prefer-online', '--loglevel=error']);
  }

  return {
    async look(name) {
      const { succeeded, stdout, output } = await npm('view', name, 'versions', 'dist-tags.latest', '--json');
      const answer = parse(stdout);
      if (succeeded) return { versions: [answer.versions ?? []].flat(), latest: answer['dist-tags.latest'] ?? null };
      if (answer.error?.code === 'E404') return { versions: [], latest: null };
      throw new ReleaseError(`The registry does not say what it has of ${name}:\n${output.trim()}`);
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
      if (packed === undefined) throw new ReleaseError(`${name}@${version} could not be downloaded:\n${output.trim()}`);
      return join(folder, packed.filename);
    },

    async publish(tarball, { provenance }) {
      const flag = provenance ? '--provenance' : '--no-provenance';
      const { succeeded, output } = await npm('publish', tarball, '--access', 'public', '--ignore-scripts', flag);
      if (!succeeded) throw new ReleaseError(`${tarball} was not published:\n${output.trim()}`);
    },
  };
}

interface ViewAnswer {
  /** npm prints the only one without brackets. */
  versions?: string | string[];
  'dist-tags.latest'?: string;
  error?: { code?: string };
}

function parse(stdout: string): ViewAnswer {
  try {
    return JSON.parse(stdout);
  } catch {
    return {};
  }
}
