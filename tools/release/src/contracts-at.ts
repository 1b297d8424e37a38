import { isContractFile } from './contract-files.ts';
import { git } from './git.ts';

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
