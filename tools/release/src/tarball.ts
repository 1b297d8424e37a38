import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run, workspaceRoot } from '@deedwire/checks';
import type { WorkspacePackage } from './plan.ts';
import { ReleaseError, succeed } from './release-error.ts';

export interface Tarball {
  of: WorkspacePackage;
  file: string;
  /** Paths of its files, relative to `package/`. */
  paths: string[];
}

/** Packs a package for publishing: resolves catalog and workspace versions, applies `publishConfig`, adds the license. */
export async function pack(of: WorkspacePackage, folder: string): Promise<Tarball> {
  const packing = run('pnpm', ['pack', '--json', '--pack-destination', folder], join(workspaceRoot, of.path));
  const { stdout } = await succeed(`Could not pack ${of.name} (was this script started by pnpm?)`, packing);
  const { filename, files }: { filename: string; files: { path: string }[] } = JSON.parse(stdout);
  return { of, file: filename, paths: files.map(({ path }) => path) };
}

/**
 * Checks a tarball with publint and Are The Types Wrong.
 *
 * @throws {ReleaseError} with their output if a check fails
 */
export async function lint({ of, file, paths }: Tarball): Promise<void> {
  const entrypoints = typedEntryPoints(join(workspaceRoot, of.path), paths).map(({ name }) => name);
  const { publishConfig } = readManifest(join(workspaceRoot, of.path));
  // ES modules only: every supported Node version can also load them with `require`. A composed package has types for node10.
  const ignored = ['node16-cjs', ...(publishConfig.directory === undefined ? ['node10'] : [])];
  const { succeeded, output } = await run('publint', ['--strict', file]);
  const problems = [...(succeeded ? [] : [output.trim()]), ...(await typeProblems(file, entrypoints, ignored))];
  if (problems.length > 0) throw new ReleaseError([`${of.name} failed the package checks.`, ...problems].join('\n'));
}

/**
 * What Are The Types Wrong finds.
 *
 * @param ignored kinds of module resolution
 */
async function typeProblems(file: string, entrypoints: string[], ignored: readonly string[]): Promise<string[]> {
  // Loads a compiler, which only a release needs.
  const { checkPackage, createPackageFromTarballData } = await import('@arethetypeswrong/core');
  const result = await checkPackage(createPackageFromTarballData(await readFile(file)), { entrypoints });
  const problems = result.types === false ? [] : result.problems;
  return problems
    .filter((problem) => !('resolutionKind' in problem && ignored.includes(problem.resolutionKind)))
    .map((problem) => JSON.stringify(problem));
}

type Exports = Readonly<Record<string, string | { readonly types: string }>>;

export interface EntryPoint {
  /** The path in `exports`, for example `.` and `./2026-11-01`. */
  name: string;
  /** The path of its declarations. */
  declarations: string;
}

/**
 * The entry points of a published package that have types.
 *
 * @param paths of the files of the package
 */
export function typedEntryPoints(packageFolder: string, paths: readonly string[]): EntryPoint[] {
  return entryPointsOf(readManifest(packageFolder).exports, paths);
}

function readManifest(folder: string) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** With patterns expanded to the existing files, sorted by name. `*` in `exports` also matches slashes. */
export function entryPointsOf(exports: Exports, paths: readonly string[]): EntryPoint[] {
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
