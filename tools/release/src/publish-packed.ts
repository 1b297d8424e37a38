import { join } from 'node:path';
import type { PackedPackage, PackedRelease } from './packed-release.ts';
import type { Registry } from './registry.ts';
import { ReleaseError } from './release-error.ts';

// This module, and all that it imports, need Node only: the job that publishes installs no dependencies.

export interface PublishOptions {
  /** Contains the tarballs. */
  folder: string;
  registry: Registry;
  /** Publish with npm provenance. */
  provenance: boolean;
  /** Only stage the packages: a maintainer then approves each. */
  stage?: boolean;
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
  const { folder, registry, provenance, stage = false, say, onPublished } = options;
  for (const of of packages) {
    const { distTag, file, integrity } = of;
    const spec = `${of.name}@${of.version}`;
    const published = await registry.integrityOf(spec);
    if (published === integrity) say(`${spec} is already published`);
    else if (published !== null)
      throw new ReleaseError(`The registry has another tarball of ${spec} (${published}, not ${integrity}).`);
    else {
      const { succeeded, output } = await registry.publish(join(folder, file), { distTag, provenance, stage });
      if (!succeeded) throw new ReleaseError(`Could not publish ${spec}:\n${output.trim()}`);
      say(`${stage ? 'staged' : 'published'} ${spec}${distTag === 'latest' ? '' : ` as ${distTag}`}`);
    }
    await onPublished?.(of);
  }
}

/**
 * Returns the tags of a release whose package is on the registry; those of apps only if all packages are.
 *
 * @throws {ReleaseError} if the registry cannot be read
 */
export async function dueTags({ packages, tags }: PackedRelease, registry: Registry): Promise<string[]> {
  const due: string[] = [];
  let isComplete = true;
  for (const { name, version, isPublished } of tags.toSorted((a, b) => Number(b.isPublished) - Number(a.isPublished))) {
    const spec = `${name}@${version}`;
    if (isPublished) {
      const packed = packages.find((each) => each.name === name);
      const published = await registry.integrityOf(spec);
      if (published === null || (packed && packed.integrity !== published)) {
        isComplete = false;
        continue;
      }
    }
    if (isPublished || isComplete) due.push(spec);
  }
  return due;
}
