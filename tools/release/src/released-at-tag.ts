import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot, type CommandResult } from '@deedwire/checks';
import { contractFilesIn } from './contract-files.ts';
import { git, reachableTags } from './git.ts';
import { readWorkspacePackages, type WorkspacePackage } from './workspace-packages.ts';

/**
 * Compares `released/` of each package with the contracts in the tree of its tag `name@version`: only a release may change
 * it. A package whose tag is not reachable (a shallow clone, a version that is about to be published) is not checked.
 */
export async function checkReleased(): Promise<CommandResult> {
  const tags = await reachableTags();
  const tagged = readWorkspacePackages(workspaceRoot).filter(({ name, version }) => tags.has(`${name}@${version}`));
  const problems = (await Promise.all(tagged.map(compareWithTag))).flat();
  return { succeeded: problems.length === 0, output: problems.join('') };
}

async function compareWithTag({ name, version, path }: WorkspacePackage): Promise<string[]> {
  const tag = `${name}@${version}`;
  const [promised, released] = await Promise.all([blobsAt(tag, path), blobsIn(join(path, 'released'))]);
  return [...new Set([...promised.keys(), ...released.keys()])]
    .filter((file) => promised.get(file) !== released.get(file))
    .map((file) => `${path}/released/${file} differs from the tree of ${tag}\n`)
    .toSorted();
}

/** Contract file → blob id in the tree of a tag. */
async function blobsAt(tag: string, path: string): Promise<Map<string, string>> {
  const listed = await git(
    'ls-tree',
    '-rz',
    tag,
    '--',
    `${path}/versions`,
    `${path}/json-schema`,
    `${path}/versions.json`,
  );
  const entries = listed.split('\0').flatMap((line): [string, string][] => {
    const [, blob, file] = /^\d+ blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    return blob === undefined || file === undefined ? [] : [[file.slice(path.length + 1), blob]];
  });
  return new Map(entries);
}

/** Contract file → blob id of the file in the working tree. */
async function blobsIn(folder: string): Promise<Map<string, string>> {
  if (!existsSync(join(workspaceRoot, folder))) return new Map();
  const files = contractFilesIn(join(workspaceRoot, folder));
  const blobs = await git('hash-object', '--', ...files.map((file) => join(folder, file)));
  return new Map(
    blobs
      .trim()
      .split('\n')
      .map((blob, index) => [files[index] ?? '', blob]),
  );
}
