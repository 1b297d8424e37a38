import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createApiReports } from '@deedwire/contract-check';
import type { Generated } from '../generated.ts';
import { findFiles, readText, workspaceRoot } from '../workspace-files.ts';

/** The reports in `packages/*\/api`: the exported declarations of each entry point of a published package. */
export async function apiReports(): Promise<Generated> {
  const published = findFiles('packages/*/package.json')
    .filter((manifest) => JSON.parse(readText(manifest)).private !== true)
    .map(dirname);
  const files = new Map<string, string>();
  for (const folder of published) for (const [path, text] of await reportsOfPackage(folder)) files.set(path, text);
  return {
    files,
    folders: published.map((folder) => `${folder}/api`),
  };
}

async function reportsOfPackage(folder: string): Promise<[path: string, text: string][]> {
  const packageFolder = join(workspaceRoot, folder);
  // Inside the package, so that its imports resolve. Git ignores the folder.
  const outDir = join(packageFolder, 'node_modules/.cache/api-report');
  rmSync(outDir, { recursive: true, force: true });
  emitDeclarations(packageFolder, outDir);
  const entryPoints = entryPointsOf(packageFolder, outDir);
  const texts = await createApiReports(entryPoints.map(({ declarations }) => join(outDir, declarations)));
  return entryPoints.map(({ reportFile, declarations }) => {
    const text = texts.get(declarations.replace('.d.ts', '.api.json'));
    if (text === undefined) throw new Error(`${folder} has no report of ${declarations}`);
    return [`${folder}/api/${reportFile}`, text];
  });
}

const tsc = join(workspaceRoot, 'node_modules/.bin/tsc');

/**
 * Emits the declarations of a package as its build does. Returns the folder. Without checks, it does not resolve the packages
 * that this package imports, which have no declarations before they are built. A package that imports another must state the
 * types of its exports (`isolatedDeclarations`).
 */
export function emitDeclarations(packageFolder: string, outDir: string): string {
  const options = ['--emitDeclarationOnly', '--noCheck', '--outDir', outDir];
  execFileSync(tsc, ['-p', join(packageFolder, 'tsconfig.build.json'), ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return outDir;
}

/** An entry point of a package that has types. */
export interface EntryPoint {
  /** The path in `exports`, with `*` replaced: `.`, `./web`, `./2026-11-01`. */
  readonly name: string;
  /** The report in `api/`: `index.api.json`, `web.api.json`. */
  readonly reportFile: string;
  /** The declaration file relative to `dist`. */
  readonly declarations: string;
}

type Exports = Readonly<Record<string, string | { readonly types: string }>>;

/**
 * The entry points that have types, sorted by name. Patterns are expanded to the existing declaration files.
 *
 * @param outDir the folder that corresponds to `dist`
 */
export function entryPointsOf(packageFolder: string, outDir: string): EntryPoint[] {
  const { publishConfig }: { publishConfig: { exports: Exports } } = JSON.parse(
    readFileSync(join(packageFolder, 'package.json'), 'utf8'),
  );
  return Object.entries(publishConfig.exports)
    .flatMap(([name, target]) => (typeof target === 'string' ? [] : expanded(name, target.types, outDir)))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function expanded(name: string, types: string, outDir: string): EntryPoint[] {
  const path = types.replace('./dist/', '');
  const [before = '', after = ''] = path.split('*');
  // `*` in `exports` also matches slashes.
  const files = path.includes('*') ? globSync(`${before}**/*${after}`, { cwd: outDir }) : [path];
  const found = path.includes('*') ? [...files, ...globSync(path, { cwd: outDir })] : files;
  return [...new Set(found.map((file) => file.replaceAll('\\', '/')))].map((declarations) => {
    const entryPoint = name.replace('*', declarations.slice(before.length, declarations.length - after.length));
    return { name: entryPoint, reportFile: `${entryPoint.replace(/^\.\/?/, '') || 'index'}.api.json`, declarations };
  });
}
