import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { git } from './git.ts';

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

/** Path → blob id. */
export type Blobs = ReadonlyMap<string, string>;

/** The contract files of a package in a commit, by path in the package. */
export async function contractsAt(
  root: string,
  commit: string,
  path: string,
  appendOnly: readonly string[],
): Promise<Blobs> {
  return below(await treeAt(root, commit, path), path, (file) => isContractFile(file, appendOnly));
}

/** The files of a tree that belong, relative to a folder. */
export function below(tree: Blobs, folder: string, belongs: (file: string) => boolean): Blobs {
  const files = [...tree].map(([file, blob]) => [file.slice(folder.length + 1), blob] as const);
  const contracts = files.filter(([file]) => belongs(file));
  // `versions.json` alone is no contract.
  return new Map(contracts.some(([file]) => file !== 'versions.json') ? contracts : []);
}

/** All files below a path in a commit. */
export async function treeAt(root: string, commit: string, path: string): Promise<Blobs> {
  const listed = await git(root, 'ls-tree', '-rz', commit, '--', path);
  return new Map(
    listed.split('\0').flatMap((line): [string, string][] => {
      const [, blob, file] = /^\d+ blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      return blob === undefined || file === undefined ? [] : [[file, blob]];
    }),
  );
}
