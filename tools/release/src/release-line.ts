import { ReleaseError } from './release-error.ts';

/** Major, minor and patch. */
type Numbers = readonly [number, number, number];

/**
 * The dist-tag of a version: `latest`, unless a higher version is published. A fix of an older major gets `latest-<major>`, and
 * a fix of an older minor `latest-<major>.<minor>`, so that it does not replace the version that `npm install` chooses.
 *
 * @param published the versions on the registry. Pre-releases are ignored.
 * @throws {ReleaseError} if the version is a pre-release
 */
export function distTagOf(version: string, published: readonly string[]): string {
  const [major, minor, patch] = numbersOf(version);
  const higher = releasesIn(published).filter((each) => compare(each, [major, minor, patch]) > 0);
  if (higher.length === 0) return 'latest';
  return higher.some((each) => each[0] === major) ? `latest-${major}.${minor}` : `latest-${major}`;
}

/**
 * The published version that consumers of a version come from: the highest one below it. Null if there is none.
 *
 * @throws {ReleaseError} if the version is a pre-release
 */
export function predecessorOf(version: string, published: readonly string[]): string | null {
  const numbers = numbersOf(version);
  const lower = releasesIn(published).filter((each) => compare(each, numbers) < 0);
  return lower.toSorted(compare).at(-1)?.join('.') ?? null;
}

function numbersOf(version: string): Numbers {
  const numbers = parse(version);
  if (numbers === null)
    throw new ReleaseError(`${version} is not a release: only versions such as 1.2.3 are published.`);
  return numbers;
}

function releasesIn(versions: readonly string[]): Numbers[] {
  return versions.map(parse).filter((numbers) => numbers !== null);
}

function parse(version: string): Numbers | null {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  return major === undefined ? null : [Number(major), Number(minor), Number(patch)];
}

function compare(a: Numbers, b: Numbers): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
