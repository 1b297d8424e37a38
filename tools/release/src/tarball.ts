import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, workspaceRoot } from '@deedwire/checks';
import type { WorkspacePackage } from './plan.ts';
import { ReleaseError } from './release-error.ts';

export interface Tarball {
  of: WorkspacePackage;
  file: string;
  /** Paths of its files, relative to `package/`. */
  paths: string[];
}

/** Packs a package for publishing: resolves catalog and workspace versions, applies `publishConfig`, adds the license. */
export async function pack(of: WorkspacePackage, folder: string): Promise<Tarball> {
  const packageFolder = join(workspaceRoot, of.path);
  const { succeeded, stdout, output } = await run(
    'pnpm',
    ['pack', '--json', '--pack-destination', folder],
    packageFolder,
  );
  if (!succeeded)
    throw new ReleaseError(`Could not pack ${of.name} (was this script started by pnpm?):\n${output.trim()}`);
  const { filename, files }: { filename: string; files: { path: string }[] } = JSON.parse(stdout);
  return { of, file: filename, paths: files.map(({ path }) => path) };
}

/**
 * Checks a tarball with publint and Are The Types Wrong.
 *
 * @throws {ReleaseError} with their output if a check fails
 */
export async function lint({ of, file, paths }: Tarball): Promise<void> {
  const { publishConfig }: { publishConfig: { exports: Exports } } = JSON.parse(
    readFileSync(join(workspaceRoot, of.path, 'package.json'), 'utf8'),
  );
  const entryPoints = typedEntryPoints(publishConfig.exports, paths).map(({ name }) => name);
  // ES modules only: every supported Node version can also load them with `require`.
  const format = ['--no-color', '--no-emoji', '--format', 'ascii'];
  const attw = ['--profile', 'esm-only', ...format, '--entrypoints', ...entryPoints];
  const results = await Promise.all([run('publint', ['--strict', file]), run('attw', [file, ...attw])]);
  const problems = results.filter(({ succeeded }) => !succeeded).map(({ output }) => output.trim());
  if (problems.length > 0) throw new ReleaseError([`${of.name} failed the package checks.`, ...problems].join('\n'));
}

type Exports = Readonly<Record<string, string | { readonly types: string }>>;

/**
 * The entry points of a package that have types, with patterns expanded to the existing files, sorted by name. `*` in `exports` also
 * matches slashes.
 *
 * @param paths of the files of the package
 * @returns the paths in `exports`, for example `.` and `./2026-11-01`, and those of their declarations
 */
export function typedEntryPoints(exports: Exports, paths: readonly string[]): { name: string; declarations: string }[] {
  return Object.entries(exports)
    .flatMap(([name, target]) => {
      if (typeof target === 'string') return [];
      const [before = '', after] = target.types.replace(/^\.\//, '').split('*');
      if (after === undefined) return [{ name, declarations: before }];
      return paths
        .filter((path) => path.startsWith(before) && path.endsWith(after))
        .map((path) => ({ name: name.replace('*', path.slice(before.length, -after.length)), declarations: path }));
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
