import { join } from 'node:path';
import { run, type ToolResult } from '@deedwire/checks';
import { ReleaseError } from './release-error.ts';

/** What the npm registry has, read through pnpm and npm and their configuration. */
export interface Registry {
  /** The published versions of a package. */
  versionsOf(name: string): Promise<string[]>;
  /** Downloads a tarball into a folder and returns its path. */
  download(name: string, version: string, folder: string): Promise<string>;
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
      // Every release asks for each package, and npm takes half a second of CPU time to start.
      const { succeeded, stdout, output } = await run('pnpm', ['view', name, 'versions', '--json', ...where]);
      const printed = parse(stdout);
      if (succeeded && (typeof printed === 'string' || Array.isArray(printed))) return [printed].flat();
      if (typeof printed === 'object' && 'error' in printed && printed.error?.code === 'ERR_PNPM_FETCH_404') return [];
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
  };
}

/** The output of `pnpm view <name> versions --json`: a string if there is only one version. */
type View = string | string[] | { error?: { code?: string } };

function parse(stdout: string): View {
  try {
    return JSON.parse(stdout);
  } catch {
    return {};
  }
}
