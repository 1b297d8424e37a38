import { join } from 'node:path';
import type { run, ToolResult } from '@deedwire/checks';
import { ReleaseError } from './release-error.ts';

// This module, and all that it imports, need Node only: the job that publishes installs no dependencies.

export type Registry = ReturnType<typeof openRegistry>;

/**
 * The npm registry, by means of npm, pnpm and their configuration.
 *
 * @param url null for the registry in npm's configuration
 * @param execute `run` of `checks`: the `.npmrc` of the workspace applies, wherever the release was started
 */
export function openRegistry(url: string | null, execute: typeof run) {
  const where = url === null ? [] : ['--registry', url];

  function npm(...npmArguments: string[]): Promise<ToolResult> {
    // A cached response could miss a version that was just published.
    return execute('npm', [...npmArguments, ...where, '--prefer-online', '--loglevel=error']);
  }

  return {
    /** The published versions of a package. */
    async versionsOf(name: string): Promise<string[]> {
      // Every release asks for each package, and npm takes half a second of CPU time to start.
      const { succeeded, stdout, output } = await execute('pnpm', ['view', name, 'versions', '--json', ...where]);
      const printed = parse(stdout);
      if (succeeded && (typeof printed === 'string' || Array.isArray(printed))) return [printed].flat();
      if (typeof printed === 'object' && 'error' in printed && printed.error?.code === 'ERR_PNPM_FETCH_404') return [];
      throw new ReleaseError(`Could not read the versions of ${name} from the registry:\n${output.trim()}`);
    },

    /** The integrity of a published version. Null if the registry does not have it. */
    async integrityOf(spec: string): Promise<string | null> {
      const { succeeded, stdout, output } = await npm('view', spec, 'dist.integrity', '--json');
      if (succeeded) return stdout.trim() === '' ? null : String(JSON.parse(stdout));
      if (/\bE404\b/.test(output)) return null;
      throw new ReleaseError(`Could not read ${spec} from the registry:\n${output.trim()}`);
    },

    /** Downloads a tarball into a folder and returns its path. */
    async download(spec: string, folder: string): Promise<string> {
      const { succeeded, stdout, output } = await npm('pack', spec, '--json', '--pack-destination', folder);
      const [packed]: { filename: string }[] = succeeded ? JSON.parse(stdout) : [];
      if (packed === undefined) throw new ReleaseError(`Could not download ${spec}:\n${output.trim()}`);
      return join(folder, packed.filename);
    },

    /** @param options `stage`: the version is not public until a maintainer approves it with a second factor */
    async publish(
      file: string,
      options: { distTag: string; provenance: boolean; stage: boolean },
    ): Promise<ToolResult> {
      const { distTag, provenance, stage } = options;
      const flags = ['--access', 'public', '--ignore-scripts', provenance ? '--provenance' : '--no-provenance'];
      return npm(...(stage ? ['stage'] : []), 'publish', file, '--tag', distTag, ...flags);
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
