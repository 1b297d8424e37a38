import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ReleaseError } from './release-error.ts';

// This module, and all that it imports, need Node only: the job that publishes installs no dependencies.

/** The content of `release.json`: what a release publishes and tags. It lies beside the tarballs. */
export interface PackedRelease {
  /** The commit that the tarballs were made from. */
  commit: string;
  /** In the order in which they are published: each after its dependencies. */
  packages: readonly PackedPackage[];
  /** Packages and apps, `<name>@<version>`. A package may already be published, by a run that was interrupted. */
  tags: readonly PackedTag[];
}

export interface PackedPackage {
  name: string;
  version: string;
  /** The name of the tarball. */
  file: string;
  /** `sha512-` and the base64 digest of the tarball, as the registry publishes it. */
  integrity: string;
  distTag: string;
}

export interface PackedTag {
  name: string;
  version: string;
  /** Apps are tagged, not published. */
  isPublished: boolean;
}

const manifestName = 'release.json';

export async function integrityOf(file: string): Promise<string> {
  return `sha512-${createHash('sha512')
    .update(await readFile(file))
    .digest('base64')}`;
}

/** Writes `release.json`. Returns its SHA-256, in hexadecimal. */
export async function writePackedRelease(folder: string, release: PackedRelease): Promise<string> {
  const text = `${JSON.stringify(release, null, 2)}\n`;
  await writeFile(join(folder, manifestName), text);
  return sha256Of(text);
}

/**
 * Reads `release.json` and compares every tarball with it.
 *
 * @param sha256 of `release.json`, as `writePackedRelease` returned it. Null trusts the file.
 * @throws {ReleaseError} if a file is missing or differs
 */
export async function readPackedRelease(folder: string, sha256: string | null): Promise<PackedRelease> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch((cause: unknown) => {
    throw new ReleaseError(`${folder} has no ${manifestName}. Make it with \`pnpm release --pack ${folder}\`.`, {
      cause,
    });
  });
  const found = sha256Of(text);
  if (sha256 !== null && found !== sha256) {
    throw new ReleaseError(`${manifestName} has the SHA-256 ${found}, not ${sha256}. Pack the release again.`);
  }
  const release: PackedRelease = JSON.parse(text);
  for (const { file, integrity } of release.packages) {
    const actual = await integrityOf(join(folder, file)).catch(() => 'no such file');
    if (actual !== integrity)
      throw new ReleaseError(
        `${file} differs from ${manifestName} (${actual}, not ${integrity}). Pack the release again.`,
      );
  }
  return release;
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
