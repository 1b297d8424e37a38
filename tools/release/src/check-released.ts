import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandResult } from '@deedwire/checks';
import { findBaselineCommit } from './baseline-commit.ts';
import { appendOnlyOf, releasedFilesOf } from './contract-files.ts';
import { below, contractsAt, treeAt, type Blobs } from './contracts-at.ts';
import { git, isRepository, reachableTags } from './git.ts';
import { recordsFile } from './release-record.ts';
import { readWorkspacePackages, type WorkspacePackage } from './workspace-packages.ts';

export interface ReleasedOptions {
  /** The root of the workspace, which is the root of its repository. */
  readonly root: string;
  /** Whether a clone without the necessary history fails the check. Otherwise it is a warning. */
  readonly historyRequired: boolean;
}

/**
 * Compares `released/` and the release records of each package with the commit of its last release: only a release may change
 * them, and a release may change no contract.
 */
export async function checkReleased({ root, historyRequired }: ReleasedOptions): Promise<CommandResult> {
  const packages = readWorkspacePackages(root).filter(({ kind }) => kind === 'public');
  const found = (await isRepository(root))
    ? await checkPackages(root, packages)
    : { problems: [], unknown: packages.map(({ name }) => name) };
  const missing =
    found.unknown.length === 0
      ? ''
      : `No history shows the last release of ${found.unknown.join(', ')}, so their released/ is not checked. Fetch it: git fetch --unshallow\n`;
  const succeeded = found.problems.length === 0 && !(historyRequired && missing !== '');
  return { succeeded, output: `${found.problems.join('')}${missing}`, warnings: succeeded ? missing : '' };
}

async function checkPackages(
  root: string,
  packages: readonly WorkspacePackage[],
): Promise<{ problems: string[]; unknown: string[] }> {
  const tags = await reachableTags(root);
  const results = await Promise.all(packages.map((each) => checkPackage(root, each, tags)));
  return {
    problems: results.flatMap((problems) => problems ?? []),
    unknown: packages.filter((_, i) => results[i] === null).map(({ name }) => name),
  };
}

/** The problems of a package. Null if the history does not show its last release. */
async function checkPackage(root: string, of: WorkspacePackage, tags: ReadonlySet<string>): Promise<string[] | null> {
  const { path } = of;
  const baseline = await findBaselineCommit(root, of, tags);
  if (baseline.kind === 'unknown') return null;
  // The versions are being cut. The next run, in the commit, checks the result.
  if (baseline.kind === 'uncommitted') return [];
  const appendOnly = appendOnlyOf(join(root, path));
  const released = await blobsIn(root, path);
  const records = await recordProblems(root, baseline.commit, path);
  if (baseline.kind === 'imported') {
    const imported = await releasedAt(root, baseline.commit, path);
    return [...differences(imported, released, path, `${baseline.commit} (imported)`), ...records];
  }
  const contracts = await contractsAt(root, baseline.commit, path, appendOnly);
  const promised = new Map([...contracts, ...(await adopted(root, baseline.commit, { contracts, released, path }))]);
  const problems = [...differences(promised, released, path, baseline.commit), ...records];
  if (baseline.isTag) return problems;
  const before = await contractsAt(root, `${baseline.commit}^`, path, appendOnly);
  const cut = [...contracts].filter(([file, blob]) => before.get(file) !== blob).map(([file]) => file);
  return [
    ...problems,
    ...cut.map(
      (file) =>
        `${path}/${file} changes in ${baseline.commit}, which raises the version: change it in an earlier commit\n`,
    ),
  ];
}

function differences(promised: Blobs, released: Blobs, path: string, where: string): string[] {
  return [...new Set([...promised.keys(), ...released.keys()])]
    .filter((file) => promised.get(file) !== released.get(file))
    .map((file) => `${path}/released/${file} differs from the last release, ${where}\n`)
    .toSorted();
}

/**
 * The first state of released files of a kind that the last release did not have: API reports, or an append-only file. The
 * commit that first added such a file is its baseline. An uncommitted file has no baseline yet.
 */
async function adopted(
  root: string,
  commit: string,
  { contracts, released, path }: { contracts: Blobs; released: Blobs; path: string },
): Promise<[string, string][]> {
  const known = new Set([...contracts.keys(), 'versions/', 'json-schema/'].map(kindOf));
  const isAdopted = (file: string): boolean => !known.has(kindOf(file));
  const log = ['log', '--reverse', '--diff-filter=A', '--name-only', '--format=%H', `${commit}..HEAD`];
  const baselines = new Map([...released].filter(([file]) => isAdopted(file)));
  const dated = new Set<string>();
  let adding = '';
  for (const line of (await git(root, ...log, '--', `${path}/released`)).split('\n')) {
    if (/^[0-9a-f]{40}$/.test(line)) adding = line;
    const file = line.startsWith(`${path}/released/`) ? line.slice(`${path}/released/`.length) : null;
    if (file === null || dated.has(file) || !isAdopted(file)) continue;
    dated.add(file);
    baselines.set(file, (await treeAt(root, adding, line)).get(line) ?? '');
  }
  return [...baselines];
}

/** The commit that last wrote the records is that of the release, or the one that added the first records after it. */
async function recordProblems(root: string, commit: string, path: string): Promise<string[]> {
  const file = `${path}/${recordsFile}`;
  const writing = (await treeAt(root, commit, file)).has(file) ? commit : await findAdding(root, commit, file);
  if (writing === null) return [];
  const then = (await treeAt(root, writing, file)).get(file);
  const now = existsSync(join(root, file)) ? (await git(root, 'hash-object', '--', file)).trim() : undefined;
  return then === now ? [] : [`${file} differs from ${writing}, which wrote it: only a release changes it\n`];
}

/** The first commit after `commit` that added the file. Null if none did. */
async function findAdding(root: string, commit: string, file: string): Promise<string | null> {
  const log = ['log', '--reverse', '--diff-filter=A', '--format=%H', `${commit}..HEAD`];
  const [adding = ''] = (await git(root, ...log, '--', file)).split('\n');
  return adding === '' ? null : adding;
}

/** The folder of API reports, or the name of an append-only file. */
function kindOf(file: string): string {
  return file.split('/', 1)[0] ?? '';
}

async function releasedAt(root: string, commit: string, path: string): Promise<Blobs> {
  return below(await treeAt(root, commit, `${path}/released`), `${path}/released`, () => true);
}

/** Released file → blob id of the file in the working tree. */
async function blobsIn(root: string, path: string): Promise<Blobs> {
  const files = releasedFilesOf(join(root, path));
  if (files.length === 0) return new Map();
  const blobs = await git(root, 'hash-object', '--', ...files.map((file) => `${path}/released/${file}`));
  return new Map(
    blobs
      .trim()
      .split('\n')
      .map((blob, index) => [files[index] ?? '', blob]),
  );
}
