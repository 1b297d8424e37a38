import { cpSync, existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** What a package promises: the files that `contract-check` compares, and the state of each version. */
export const contractPatterns = ['versions/*.graphql', 'versions/*.manifest.json', 'json-schema/**/*.json'];
export const versionStates = 'versions.json';

/** Paths of the contract files below a folder, in order. Empty: it promises nothing. */
export function contractFilesIn(folder: string): string[] {
  const contracts = globSync(contractPatterns, { cwd: folder }).map((path) => path.replaceAll('\\', '/'));
  if (contracts.length === 0) return [];
  return [...contracts, ...(existsSync(join(folder, versionStates)) ? [versionStates] : [])].toSorted();
}

/** Makes `released/` what the package promises now. */
export function writeReleased(packageFolder: string): void {
  const released = join(packageFolder, 'released');
  rmSync(released, { recursive: true, force: true });
  for (const path of contractFilesIn(packageFolder)) cpSync(join(packageFolder, path), join(released, path));
}

/** Paths that differ, or are missing on one side, between what the package promises now and its `released/`. */
export function differsFromReleased(packageFolder: string): string[] {
  const released = join(packageFolder, 'released');
  const paths = new Set([...contractFilesIn(packageFolder), ...contractFilesIn(released)]);
  return [...paths].filter((path) => read(packageFolder, path) !== read(released, path)).toSorted();
}

function read(folder: string, path: string): string | null {
  const file = join(folder, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
