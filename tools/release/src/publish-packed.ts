import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { PackedPackage, PackedRelease } from './packed-release.ts';
import { ReleaseError } from './release-error.ts';

// This module, and all that it imports, need Node only: the job that publishes installs no dependencies.

export interface PublishOptions {
  /** Contains the tarballs. */
  folder: string;
  /** Null for the registry in npm's configuration. */
  registry: string | null;
  /** Publish with npm provenance. */
  provenance: boolean;
  say: (line: string) => void;
  /** Called after each package that is on the registry. */
  onPublished?: (of: PackedPackage) => Promise<void>;
}

/**
 * Publishes the tarballs of a release, one after the other. Skips those that the registry has, so that a second run continues.
 *
 * @throws {ReleaseError} if the registry has another tarball of a version, or rejects one
 */
export async function publishPacked({ packages }: PackedRelease, options: PublishOptions): Promise<void> {
  const { folder, registry, provenance, say, onPublished } = options;
  for (const of of packages) {
    const { name, version, distTag, file } = of;
    const published = await publishedIntegrity(of, registry);
    if (published === of.integrity) say(`${name}@${version} is already published`);
    else if (published !== null)
      throw new ReleaseError(
        `The registry has another tarball of ${name}@${version} (${published}, not ${of.integrity}).`,
      );
    else {
      const flag = provenance ? '--provenance' : '--no-provenance';
      const { error, output } = await npm(
        ['publish', join(folder, file), '--access', 'public', '--ignore-scripts', '--tag', distTag, flag],
        registry,
      );
      if (error) throw new ReleaseError(`Could not publish ${name}@${version}:\n${output.trim()}`);
      say(`published ${name}@${version}${distTag === 'latest' ? '' : ` as ${distTag}`}`);
    }
    await onPublished?.(of);
  }
}

/**
 * Returns the tags of a release whose package is on the registry; those of apps only if all packages are.
 *
 * @throws {ReleaseError} if the registry cannot be read
 */
export async function dueTags({ packages, tags }: PackedRelease, registry: string | null): Promise<string[]> {
  const due: string[] = [];
  let isComplete = true;
  for (const { name, version, isPublished } of tags.toSorted((a, b) => Number(b.isPublished) - Number(a.isPublished))) {
    if (isPublished) {
      const packed = packages.find((each) => each.name === name);
      const published = await publishedIntegrity({ name, version }, registry);
      if (published === null || (packed && packed.integrity !== published)) {
        isComplete = false;
        continue;
      }
    }
    if (isPublished || isComplete) due.push(`${name}@${version}`);
  }
  return due;
}

/** The integrity of a published version. Null if the registry does not have it. */
async function publishedIntegrity(
  { name, version }: Pick<PackedPackage, 'name' | 'version'>,
  registry: string | null,
): Promise<string | null> {
  const { error, stdout, output } = await npm(['view', `${name}@${version}`, 'dist.integrity', '--json'], registry);
  if (!error) return stdout.trim() === '' ? null : String(JSON.parse(stdout));
  if (/\bE404\b/.test(output)) return null;
  throw new ReleaseError(`Could not read ${name}@${version} from the registry:\n${output.trim()}`);
}

interface Outcome {
  error: Error | null;
  stdout: string;
  output: string;
}

function npm(npmArguments: readonly string[], registry: string | null): Promise<Outcome> {
  const where = registry === null ? [] : ['--registry', registry];
  // A cached response could miss a version that was just published.
  const all = [...npmArguments, ...where, '--prefer-online', '--loglevel=error'];
  return new Promise((resolve) => {
    execFile('npm', all, { encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ error, stdout, output: `${stdout}${stderr}` }),
    );
  });
}
