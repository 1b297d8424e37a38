import { globSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { emitDeclarations } from './emit-declarations.ts';
import { entryPointsOf } from './entry-points.ts';
import { reportsOf } from './report.ts';

const workspaceRoot = join(import.meta.dirname, '../../..');

for (const manifest of globSync('packages/*/package.json', { cwd: workspaceRoot }).toSorted()) {
  const folder = join(workspaceRoot, dirname(manifest));
  const { private: isPrivate }: { private?: boolean } = JSON.parse(readFileSync(join(workspaceRoot, manifest), 'utf8'));
  if (isPrivate === true) continue;
  // Inside the package, so that its imports resolve. Git ignores the folder.
  const outDir = join(folder, 'node_modules/.cache/api-report');
  await rm(outDir, { recursive: true, force: true });
  emitDeclarations(folder, outDir);
  const entryPoints = entryPointsOf(folder, outDir);
  const reports = reportsOf(
    outDir,
    entryPoints.map(({ declarations }) => declarations),
  );
  await rm(join(folder, 'api'), { recursive: true, force: true });
  for (const { reportFile, declarations } of entryPoints) {
    const file = join(folder, 'api', reportFile);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify(reports.get(declarations), null, 2)}\n`);
  }
}
