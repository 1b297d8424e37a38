import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';

const contractPatterns = [
  'versions/*.graphql',
  'versions/*.manifest.json',
  'json-schema/**/*.json',
  'api/**/*.api.json',
];
/** The states of the versions of a contract. */
export const statesFile = 'versions.json';

/** Paths of the contract files of a package, which `contract-check` compares, sorted. Empty if it has no contracts. */
export function contractFilesOf(packageFolder: string): string[] {
  const contracts = [...globSync(contractPatterns, { cwd: packageFolder }), ...settingsOf(packageFolder).appendOnly];
  if (contracts.length === 0) return [];
  const states = existsSync(join(packageFolder, statesFile)) ? [statesFile] : [];
  return [...contracts, ...states].map((path) => path.replaceAll('\\', '/')).toSorted();
}

/** Whether a path in a package is that of a contract file. */
export function isContractFile(path: string, appendOnly: readonly string[]): boolean {
  return [statesFile, ...appendOnly].includes(path) || contractPatterns.some((pattern) => matchesGlob(path, pattern));
}

/** `contractCheck` in `package.json`: the paths of the append-only files, and the apps that serve the contract. */
export function settingsOf(packageFolder: string): { appendOnly: string[]; servedBy: string[] } {
  const file = join(packageFolder, 'package.json');
  const manifest: { contractCheck?: object } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  return { appendOnly: [], servedBy: [], ...manifest.contractCheck };
}
