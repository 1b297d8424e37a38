import { existsSync, globSync, readFileSync } from 'node:fs';
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
