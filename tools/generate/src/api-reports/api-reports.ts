import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createApiReports } from '@deedwire/contract-check';
import type { Generated } from '../generated.ts';
import { findFiles, readText, workspaceRoot } from '../workspace-files.ts';
import { emitDeclarations } from './emit-declarations.ts';
import { entryPointsOf } from './entry-points.ts';

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
