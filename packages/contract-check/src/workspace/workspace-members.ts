import { posix } from 'node:path';
import picomatch from 'picomatch';
import { parse } from 'yaml';
import type { PackageFiles } from '../source/package-files.ts';
import type { SourceText } from '../text-file.ts';

/** Which folders a package manager takes for packages, and can publish. */
export interface WorkspaceMembers {
  /** Whether the root states that folders in it are packages. */
  readonly areListed: boolean;
  /** Whether the root lists a folder. */
  includes(folder: string): boolean;
}

/** Reads `workspaces` in the `package.json` of the root, `pnpm-workspace.yaml` and `lerna.json`. What is invalid lists nothing. */
export function workspaceMembers(files: PackageFiles): WorkspaceMembers {
  // Each on its own: an exclusion in the file of another package manager has no effect.
  const matchers = listsIn(files).flatMap((list) => matcherOf(list) ?? []);
  return { areListed: matchers.length > 0, includes: (folder) => matchers.some((matches) => matches(folder)) };
}

/** Null if the list includes nothing. */
function matcherOf(list: readonly unknown[]): ((folder: string) => boolean) | null {
  const patterns = list
    .filter((pattern) => typeof pattern === 'string')
    .map((pattern) => {
      const [marks = ''] = /^!*/.exec(pattern) ?? [];
      return { glob: normalizedGlob(pattern.slice(marks.length)), isExcluded: marks.length % 2 === 1 };
    });
  const included = patterns.filter(({ isExcluded }) => !isExcluded).map(({ glob }) => glob);
  // npm drops an exclusion if a later pattern overrides a part of it.
  const excluded = patterns
    .filter(
      ({ glob, isExcluded }, index) =>
        isExcluded &&
        !patterns.slice(index + 1).some((later) => !later.isExcluded && picomatch.isMatch(later.glob, glob)),
    )
    .map(({ glob }) => glob);
  if (included.length === 0) return null;
  const matches = picomatch(included, { ignore: excluded });
  return (folder) => matches(folder);
}

/** The notation of a pattern without what package managers ignore: `./packages//api/`. */
function normalizedGlob(pattern: string): string {
  return posix.normalize(pattern.replaceAll('\\', '/')).replace(/^\/+/, '').replace(/\/$/, '');
}

/** The patterns that each package manager reads. */
function listsIn(files: PackageFiles): (readonly unknown[])[] {
  // As package managers read it: of a duplicate name, the last one counts.
  const [manifest, lerna] = ['package.json', 'lerna.json'].map((file) => parsed(files.get(file), JSON.parse));
  // pnpm follows merge keys (`<<`).
  const pnpm = parsed(files.get('pnpm-workspace.yaml'), (text) => parse(text, { logLevel: 'silent', merge: true }));
  const workspaces = memberIn(manifest, 'workspaces');
  // yarn 1 also accepts an object.
  const listed = Array.isArray(workspaces) ? workspaces : memberIn(workspaces, 'packages');
  return [listed, ...[pnpm, lerna].map((settings) => memberIn(settings, 'packages'))].filter(Array.isArray);
}

/** Undefined if the file is missing or invalid. */
function parsed(read: (() => SourceText) | undefined, parseText: (text: string) => unknown): unknown {
  try {
    return read === undefined ? undefined : parseText(read().text);
  } catch {
    return undefined;
  }
}

function memberIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
