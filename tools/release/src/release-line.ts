import { gt, lt, major, minor, prerelease, rsort } from 'semver';
import { ReleaseError } from './release-error.ts';

/**
 * The dist-tag of a version: `latest`, unless a higher version is published. A fix of an older major gets `latest-<major>`, and
 * a fix of an older minor `latest-<major>.<minor>`, so that it does not replace the version that `npm install` chooses.
 *
 * @param published the versions on the registry. Pre-releases are ignored.
 * @throws {ReleaseError} if the version is a pre-release
 */
export function distTagOf(version: string, published: readonly string[]): string {
  const higher = releasesBeside(version, published).filter((each) => gt(each, version));
  if (higher.length === 0) return 'latest';
  const isOlderMinor = higher.some((each) => major(each) === major(version));
  return isOlderMinor ? `latest-${major(version)}.${minor(version)}` : `latest-${major(version)}`;
}

/**
 * The published version that consumers of a version come from: the highest one below it. Null if there is none.
 *
 * @throws {ReleaseError} if the version is a pre-release
 */
export function predecessorOf(version: string, published: readonly string[]): string | null {
  const lower = releasesBeside(version, published).filter((each) => lt(each, version));
  return rsort(lower)[0] ?? null;
}

function releasesBeside(version: string, published: readonly string[]): string[] {
  if (prerelease(version) !== null)
    throw new ReleaseError(`${version} is not a release: only versions such as 1.2.3 are published.`);
  return published.filter((each) => prerelease(each) === null);
}
