import { existsSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { failAt } from '../input-error.ts';
import { isDeclarationFile, withoutEnding } from './declaration-file.ts';

/**
 * Reports the exported TypeScript declarations of the entry points of a package. It needs TypeScript 5.7 to 6, or
 * `@typescript/typescript6` beside a later one.
 *
 * @param files the declaration files (`.d.ts`) of all entry points
 * @returns the text of each report by its file name: `index.api.json`, relative to the folder around the files
 * @throws {InputError} when TypeScript or a file is missing, or a file is not a module.
 */
export async function createApiReports(files: readonly string[]): Promise<Map<string, string>> {
  for (const file of files) {
    if (!isDeclarationFile(file))
      failAt(file, 'is no declaration file. Pass the .d.ts files that tsc writes with --declaration');
    if (!existsSync(file)) failAt(file, 'file not found. Build the package first');
  }
  const paths = files.map((file) => resolve(file));
  const folder = commonFolder(paths);
  const { reportsOf } = await import('./generate/create-reports.ts');
  return new Map(
    [...reportsOf(paths, folder)].map(([path, report]) => [
      `${withoutEnding(relative(folder, path))}.api.json`,
      `${JSON.stringify(report, null, 2)}\n`,
    ]),
  );
}

function commonFolder(paths: readonly string[]): string {
  let folder = dirname(paths[0] ?? '.');
  while (!paths.every((path) => path.startsWith(folder + sep))) folder = dirname(folder);
  return folder;
}
