import { cpSync, existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The contract files of a package: those that `contract-check` compares. `versions.json` belongs to them. */
export const contractPatterns = ['versions/*.graphql', 'versions/*.manifest.json', 'json-schema/**/*.json'];
export const versionStates = 'versions.json';

/** Paths of the contract files in a folder, sorted. Empty if the folder has no contracts. */
export function contractFilesIn(folder: string): string[] {
  const contracts = globSync(contractPatterns, { cwd: folder }).map((path) => path.replaceAll('\\', '/'));
  if (contracts.length === 0) return [];
  return [...contracts, ...(existsSync(join(folder, versionStates)) ? [versionStates] : [])].toSorted();
}

/** Replaces `released/` with the current contract files of the package. */
export function writeReleased(packageFolder: string): void {
  const released = join(packageFolder, 'released');
  rmSync(released, { recursive: true, force: true });
  for (const path of contractFilesIn(packageFolder)) cpSync(join(packageFolder, path), join(released, path));
}

/** Paths of the contract files that differ between the package and its `released/`, or exist in only one of them. */
export function differsFromReleased(packageFolder: string): string[] {
  const released = join(packageFolder, 'released');
  const paths = new Set([...contractFilesIn(packageFolder), ...contractFilesIn(released)]);
  return [...paths].filter((path) => read(packageFolder, path) !== read(released, path)).toSorted();
}

function read(folder: string, path: string): string | null {
  const file = join(folder, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
