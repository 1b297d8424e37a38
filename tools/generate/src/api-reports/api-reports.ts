import { execFileSync } from 'node:child_process';
import { join, relative } from 'node:path';
import { createApiReports } from '@deedwire/contract-check';
import { composeDeclarations, readWorkspacePackages } from '@deedwire/release';
import type { Generated } from '../generated.ts';
import { workspaceRoot } from '../workspace-files.ts';

/** The reports in `packages/*\/api`: the exported declarations of each entry point of a published package. */
export async function apiReports(): Promise<Generated> {
  const published = readWorkspacePackages(workspaceRoot).filter(({ kind }) => kind === 'public');
  const files = new Map<string, string>();
  for (const { path: folder } of published)
    for (const [path, text] of await reportsOfPackage(folder)) files.set(path, text);
  return { files, folders: published.map(({ path }) => `${path}/api`) };
}

async function reportsOfPackage(folder: string): Promise<[path: string, text: string][]> {
  const packageFolder = join(workspaceRoot, folder);
  // Inside the package, so that its imports resolve. Git ignores the folder.
  const outDir = join(packageFolder, 'node_modules/.cache/api-report');
  const entryPoints = await composeDeclarations(packageFolder, outDir, emitDeclarations);
  const texts = await createApiReports(entryPoints.map(({ declarations }) => declarations));
  return entryPoints.map(({ name, declarations }) => {
    const text = texts.get(relative(join(outDir, 'dist'), declarations).replace('.d.ts', '.api.json'));
    if (text === undefined) throw new Error(`${folder} has no report of ${name}`);
    // For example `index.api.json` and `2026-11-01.api.json`.
    return [`${folder}/api/${name.replace(/^\.\/?/, '') || 'index'}.api.json`, text];
  });
}

const tsc = join(workspaceRoot, 'node_modules/.bin/tsc');

/**
 * Emits the declarations of a package as its build does. Returns the folder. Without checks, it does not resolve the packages
 * that this package imports, which have no declarations before they are built. A package that imports another must state the
 * types of its exports (`isolatedDeclarations`).
 */
export function emitDeclarations(packageFolder: string, outDir: string): string {
  const options = ['--emitDeclarationOnly', '--outDir', outDir];
  execFileSync(tsc, ['-p', join(packageFolder, 'tsconfig.build.json'), ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return outDir;
}
