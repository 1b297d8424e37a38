import { cpSync, existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const contractPatterns = [
  'versions/*.graphql',
  'versions/*.manifest.json',
  'json-schema/**/*.json',
  'api/**/*.api.json',
];
const versionStates = 'versions.json';

/** Paths of the contract files of a package, which `contract-check` compares, sorted. Empty if it has no contracts. */
export function contractFilesOf(packageFolder: string): string[] {
  const contracts = [...globSync(contractPatterns, { cwd: packageFolder }), ...appendOnlyOf(packageFolder)];
  if (contracts.length === 0) return [];
  const states = existsSync(join(packageFolder, versionStates)) ? [versionStates] : [];
  return [...contracts, ...states].map((path) => path.replaceAll('\\', '/')).toSorted();
}

/** Whether a path in a package is that of a contract file. */
export function isContractFile(path: string, appendOnly: readonly string[]): boolean {
  return (
    path === versionStates ||
    appendOnly.includes(path) ||
    /^(?:versions\/[^/]+(?:\.graphql|\.manifest\.json)|json-schema\/.+\.json|api\/.+\.api\.json)$/.test(path)
  );
}

/** The paths of the append-only files, from `contractCheck.appendOnly` in `package.json`. */
export function appendOnlyOf(packageFolder: string): string[] {
  const file = join(packageFolder, 'package.json');
  if (!existsSync(file)) return [];
  const manifest: { contractCheck?: { appendOnly?: string[] } } = JSON.parse(readFileSync(file, 'utf8'));
  return manifest.contractCheck?.appendOnly ?? [];
}

/** Paths of the files in `released/`, relative to it, sorted. */
export function releasedFilesOf(packageFolder: string): string[] {
  return globSync('**/*', { cwd: join(packageFolder, 'released'), withFileTypes: false })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.(?:json|graphql)$/.test(path))
    .toSorted();
}

/** Replaces `released/` with the current contract files of the package. */
export function writeReleased(packageFolder: string): void {
  const released = join(packageFolder, 'released');
  rmSync(released, { recursive: true, force: true });
  for (const path of contractFilesOf(packageFolder)) cpSync(join(packageFolder, path), join(released, path));
}

/** Paths of the contract files that differ between the package and its `released/`, or exist in only one of them. */
export function differsFromReleased(packageFolder: string): string[] {
  const released = join(packageFolder, 'released');
  const paths = new Set([...contractFilesOf(packageFolder), ...releasedFilesOf(packageFolder)]);
  return [...paths].filter((path) => read(packageFolder, path) !== read(released, path)).toSorted();
}

function read(folder: string, path: string): string | null {
  const file = join(folder, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
