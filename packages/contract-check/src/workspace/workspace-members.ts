import { posix } from 'node:path';
import picomatch from 'picomatch';
import { parse } from 'yaml';
import { InputError } from '../input-error.ts';
import { isJsonObject, ownMember } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import type { PackageFiles } from '../source/package-files.ts';

/** Which folders a package manager takes for packages, and can publish. */
export interface WorkspaceMembers {
  /** Whether the root states that folders in it are packages of their own. */
  readonly areListed: boolean;
  /** Whether the root lists a folder. */
  includes(folder: string): boolean;
}

/** Reads `workspaces` in the `package.json` of the root, and `pnpm-workspace.yaml`. What is invalid lists nothing. */
export function workspaceMembers(files: PackageFiles): WorkspaceMembers {
  const listed = [...listedByNpm(files), ...listedByPnpm(files)].filter((pattern) => typeof pattern === 'string');
  const patterns = listed.map((pattern) => {
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
  const matches = included.length === 0 ? () => false : picomatch(included, { ignore: excluded });
  return { areListed: included.length > 0, includes: (folder) => matches(folder) };
}

/** The notation of a pattern without what package managers ignore: `./packages//api/`. */
function normalizedGlob(pattern: string): string {
  return posix.normalize(pattern.replaceAll('\\', '/')).replace(/^\/+/, '').replace(/\/$/, '');
}

function listedByNpm(files: PackageFiles): readonly unknown[] {
  const source = files.get('package.json');
  try {
    const manifest = source === undefined ? null : parseJson(source()).value;
    const workspaces = isJsonObject(manifest) ? ownMember(manifest, 'workspaces') : undefined;
    // yarn 1 also accepts an object.
    const list = isJsonObject(workspaces) ? ownMember(workspaces, 'packages') : workspaces;
    return Array.isArray(list) ? list : [];
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}

function listedByPnpm(files: PackageFiles): readonly unknown[] {
  const text = files.get('pnpm-workspace.yaml')?.().text ?? '';
  let settings: unknown;
  try {
    settings = parse(text, { logLevel: 'silent' });
  } catch {
    return [];
  }
  const list: unknown =
    typeof settings === 'object' && settings !== null ? Reflect.get(settings, 'packages') : undefined;
  return Array.isArray(list) ? list : [];
}
