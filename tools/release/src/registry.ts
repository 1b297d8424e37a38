import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { ReleaseError } from './release-error.ts';

// This module, and all that it imports, need Node only: the job that publishes installs no dependencies.

export type Registry = ReturnType<typeof openRegistry>;

/**
 * The npm registry, by means of npm, pnpm and their configuration.
 *
 * @param url null for the registry in npm's configuration
 */
export function openRegistry(url: string | null) {
  const where = url === null ? [] : ['--registry', url];

  function npm(...npmArguments: string[]): Promise<Outcome> {
    // A cached response could miss a version that was just published.
    return execute('npm', [...npmArguments, ...where, '--prefer-online', '--loglevel=error']);
  }

  return {
    /** The published versions of a package. */
    async versionsOf(name: string): Promise<string[]> {
      // Every release asks for each package, and npm takes half a second of CPU time to start.
      const { error, stdout, output } = await execute('pnpm', ['view', name, 'versions', '--json', ...where]);
      const printed = parse(stdout);
      if (!error && (typeof printed === 'string' || Array.isArray(printed))) return [printed].flat();
      if (typeof printed === 'object' && 'error' in printed && printed.error?.code === 'ERR_PNPM_FETCH_404') return [];
      throw new ReleaseError(`Could not read the versions of ${name} from the registry:\n${output.trim()}`);
    },

    /** The integrity of a published version. Null if the registry does not have it. */
    async integrityOf(spec: string): Promise<string | null> {
      const { error, stdout, output } = await npm('view', spec, 'dist.integrity', '--json');
      if (!error) return stdout.trim() === '' ? null : String(JSON.parse(stdout));
      if (/\bE404\b/.test(output)) return null;
      throw new ReleaseError(`Could not read ${spec} from the registry:\n${output.trim()}`);
    },

    /** Downloads a tarball into a folder and returns its path. */
    async download(spec: string, folder: string): Promise<string> {
      const { error, stdout, output } = await npm('pack', spec, '--json', '--pack-destination', folder);
      const [packed]: { filename: string }[] = error ? [] : JSON.parse(stdout);
      if (packed === undefined) throw new ReleaseError(`Could not download ${spec}:\n${output.trim()}`);
      return join(folder, packed.filename);
    },

    /** @param options `stage`: the version is not public until a maintainer approves it with a second factor */
    async publish(file: string, options: { distTag: string; provenance: boolean; stage: boolean }): Promise<Outcome> {
      const { distTag, provenance, stage } = options;
      const flags = ['--access', 'public', '--ignore-scripts', provenance ? '--provenance' : '--no-provenance'];
      return npm(...(stage ? ['stage'] : []), 'publish', file, '--tag', distTag, ...flags);
    },
  };
}

interface Outcome {
  error: Error | null;
  stdout: string;
  /** Standard output and standard error. Without both, why the program did not run. */
  output: string;
}

// The `.npmrc` of the workspace applies, wherever the release was started.
const options = { encoding: 'utf8', cwd: join(import.meta.dirname, '../../..'), maxBuffer: 2 ** 28 } as const;

function execute(program: string, programArguments: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(program, programArguments, options, (error, stdout, stderr) =>
      resolve({ error, stdout, output: `${stdout}${stderr}` || (error?.message ?? '') }),
    );
  });
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
