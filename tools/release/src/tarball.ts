import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, workspaceRoot } from '@deedwire/checks';
import { ReleaseError } from './release-error.ts';
import type { WorkspacePackage } from './workspace-packages.ts';

export interface Tarball {
  of: WorkspacePackage;
  file: string;
  /** What is in it, below `package/`. */
  paths: string[];
}

/** Packs as it is published: catalog and workspace versions resolved, `publishConfig` applied, the licence added. */
export async function pack(of: WorkspacePackage, folder: string): Promise<Tarball> {
  const packageFolder = join(workspaceRoot, of.path);
  const { succeeded, stdout, output } = await run(
    'pnpm',
    ['pack', '--json', '--pack-destination', folder],
    packageFolder,
  );
  if (!succeeded) throw new ReleaseError(`${of.name} was not packed (is this run by pnpm?):\n${output.trim()}`);
  const { filename, files }: { filename: string; files: { path: string }[] } = JSON.parse(stdout);
  return { of, file: filename, paths: files.map(({ path }) => path) };
}

/** Lints a tarball by publint and Are The Types Wrong. Throws a ReleaseError with what they say. */
export async function lint({ of, file, paths }: Tarball): Promise<void> {
  const { publishConfig }: { publishConfig: { exports: Exports } } = JSON.parse(
    readFileSync(join(workspaceRoot, of.path, 'package.json'), 'utf8'),
  );
  const entryPoints = typedEntryPoints(publishConfig.exports, paths);
  // ES modules only: every Node that is supported can import them, and from CommonJS as well.
  const attw = [
    '--profile',
    'esm-only',
    '--no-color',
    '--no-emoji',
    '--format',
    'ascii',
    '--entrypoints',
    ...entryPoints,
  ];
  const results = await Promise.all([run('publint', ['--strict', file]), run('attw', [file, ...attw])]);
  const said = results.filter(({ succeeded }) => !succeeded).map(({ output }) => output.trim());
  if (said.length > 0) throw new ReleaseError([`${of.name} is not fit to be published.`, ...said].join('\n'));
}

type Exports = Record<string, string | { types: string; default: string }>;

/** Every entry point that has types, with patterns written out for the files that there are. */
export function typedEntryPoints(exports: Exports, paths: readonly string[]): string[] {
  return Object.entries(exports).flatMap(([entryPoint, target]) => {
    if (typeof target === 'string') return [];
    const [before = '', after] = target.types.replace(/^\.\//, '').split('*');
    if (after === undefined) return [entryPoint];
    return paths
      .filter((path) => path.startsWith(before) && path.endsWith(after))
      .map((path) => entryPoint.replace('*', path.slice(before.length, path.length - after.length)));
  });
}
