import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '@deedwire/core';
import type { ServedVersion } from '../define-service.ts';

/** Those that are written by hand. */
const paths = [
  (date: string) => `own/${date}.graphql`,
  (date: string) => `own/${date}.manifest.json`,
  ...['ts', 'mts', 'js', 'mjs'].map((ending) => (date: string) => `${date}.${ending}`),
];

/**
 * What a version with `serve` begins with, if it has no SDL of the application yet: the SDL, the manifest and the module of the version before
 * it.
 *
 * @param folder that of the service
 * @returns the text of each missing file, by path in the folder
 */
export function beginVersions(service: Service, folder: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const [name, { versions }] of Object.entries(service.interfaces)) {
    const inFolder = (path: string): string => join(folder, name, path);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `defineService` has kept them
    const dates = (versions as readonly ServedVersion[])
      .filter(({ serve, status }) => serve !== undefined && status !== 'retired')
      .map(({ version }) => version);
    for (const version of dates) {
      const earlier = dates.filter((date) => date < version && existsSync(inFolder(`own/${date}.graphql`)));
      const before = earlier.toSorted().at(-1);
      if (before === undefined || existsSync(inFolder(`own/${version}.graphql`))) continue;
      for (const pathOf of paths) {
        const [from, to] = [pathOf(before), pathOf(version)];
        if (!existsSync(inFolder(from)) || existsSync(inFolder(to))) continue;
        const text = readFileSync(inFolder(from), 'utf8');
        files.set(`${name}/${to}`, text.replaceAll(`generated/${before}`, `generated/${version}`));
      }
    }
  }
  return files;
}
