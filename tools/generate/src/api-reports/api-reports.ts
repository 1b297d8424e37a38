import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Generated } from '../generated.ts';
import { findFiles, readText, workspaceRoot } from '../workspace-files.ts';
import { emitDeclarations } from './emit-declarations.ts';
import { entryPointsOf } from './entry-points.ts';
import { reportsOf } from './report.ts';

/** The reports in `packages/*\/api`: the exported declarations of each entry point of a published package. */
export function apiReports(): Generated {
  const published = findFiles('packages/*/package.json')
    .filter((manifest) => JSON.parse(readText(manifest)).private !== true)
    .map(dirname);
  return {
    files: new Map(published.flatMap(reportsOfPackage)),
    folders: published.map((folder) => `${folder}/api`),
  };
}

function reportsOfPackage(folder: string): [path: string, text: string][] {
  const packageFolder = join(workspaceRoot, folder);
  // Inside the package, so that its imports resolve. Git ignores the folder.
  const outDir = join(packageFolder, 'node_modules/.cache/api-report');
  rmSync(outDir, { recursive: true, force: true });
  emitDeclarations(packageFolder, outDir);
  const entryPoints = entryPointsOf(packageFolder, outDir);
  const reports = reportsOf(
    outDir,
    entryPoints.map(({ declarations }) => declarations),
  );
  return entryPoints.map(({ reportFile, declarations }) => [
    `${folder}/api/${reportFile}`,
    `${JSON.stringify(reports.get(declarations), null, 2)}\n`,
  ]);
}
