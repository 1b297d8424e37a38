import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { satisfies } from 'semver';
import { expect, test } from 'vitest';

interface Manifest {
  readonly name: string;
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
}

const packageFolder = fileURLToPath(new URL('..', import.meta.url));
const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The folder of a dependency, found as Node does. */
function resolved(name: string, from: string): string {
  const folder = join(from, 'node_modules', name);
  if (existsSync(folder)) return realpathSync(folder);
  if (dirname(from) === from) throw new Error(`${name} is not installed`);
  return resolved(name, dirname(from));
}

/** The folders of all dependencies that are installed with the package. */
function dependencies(): Set<string> {
  const found = new Set([packageFolder]);
  for (const folder of found)
    for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) found.add(resolved(name, folder));
  found.delete(packageFolder);
  return found;
}

test('the package supports exactly the versions of Node that all its dependencies support', () => {
  const ranges = [...dependencies()].flatMap((folder) => manifestOf(folder).engines?.node ?? []);
  expect(ranges.length).toBeGreaterThan(10);
  const range = manifestOf(packageFolder).engines?.node ?? '';
  const releases = Array.from({ length: 15 }, (_, major) =>
    Array.from({ length: 25 }, (__, minor) => `${major + 18}.${minor}.0`),
  ).flat();
  const supported = releases.filter((release) => ranges.every((each) => satisfies(release, each)));
  expect(releases.filter((release) => satisfies(release, range))).toEqual(supported);
  expect(supported[0]).toBe('22.12.0');
});
