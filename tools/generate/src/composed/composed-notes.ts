import type { Layout } from '@deedwire/layout';
import { composedPath, type ComposedVersion, type Extension, readComposedVersions, sourcesOf } from './editions.ts';

const extensions: readonly Extension[] = ['graphql', 'manifest.json'];

/**
 * For each composed file of the services that the output of a check names: what to change instead, and which versions that reaches. One
 * sentence each.
 */
export function composedNotes(layouts: readonly Layout[], output: string): string[] {
  const versions = layouts.flatMap(readComposedVersions);
  return versions.flatMap((version) =>
    extensions
      .filter((extension) => output.includes(composedPath(version, extension)))
      .map((extension) => {
        const [own = '', ...editions] = sourcesOf(version, extension);
        const common = editions.map((path) => `or ${path}, which reaches ${reachedBy(path, extension, versions)}`);
        return `${composedPath(version, extension)} is composed: change ${[own, ...common].join(', ')}.`;
      }),
  );
}

/** For example `customer 2026-11-01 and supplier 2026-11-01`. */
function reachedBy(path: string, extension: Extension, versions: readonly ComposedVersion[]): string {
  const reached = versions.filter((version) => sourcesOf(version, extension).includes(path));
  return new Intl.ListFormat('en-GB').format(reached.map(({ name, date }) => `${name} ${date}`));
}
