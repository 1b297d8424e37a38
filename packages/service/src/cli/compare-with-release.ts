import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join, posix, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandError } from './command-error.ts';

const name = '@deedwire/contract-check';

/**
 * Compares the SDL, the abilities and costs, and the payloads of each version with those of a release, by `contract-check`, which prints the
 * result. If the repository uses Changesets, it asks for those that the changes need.
 *
 * @param serviceFile its folder has the contracts
 * @param commit a commit, a tag or a branch. Null: the latest release if the repository uses Changesets, and otherwise what is merged
 * @returns the exit code of `contract-check`
 * @throws {CommandError} if `contract-check` is not installed, or git does not know the commit
 */
export async function compareWithRelease(serviceFile: string, commit: string | null): Promise<number> {
  const bin = findBin(serviceFile);
  const folder = realpathSync(dirname(serviceFile));
  const repository = realpathSync(runGit(folder, 'rev-parse', '--show-toplevel').trimEnd());
  const withChangesets = nearest(folder, repository, '.changeset/config.json');
  if (commit === null && withChangesets === null)
    throw new CommandError(
      'Only a repository with Changesets has a latest release. Name what is deployed: a tag, a commit, or the branch from which you deploy: `deedwire check --against origin/main`.',
    );
  if (commit !== null && spawnGit(folder, ['rev-parse', '--verify', `${commit}^{commit}`]).status !== 0)
    throw new CommandError(
      `${commit} is no commit, tag or branch of the repository ${repository}. If the clone is shallow, fetch the history: \`git fetch --unshallow --tags\`, or \`fetch-depth: 0\` for actions/checkout.`,
    );
  const root = withChangesets ?? nearest(folder, repository, 'package.json') ?? repository;
  const contracts = contractsIn(folder, commit ?? 'HEAD').map((each) => ({
    ...each,
    folder: posix.join(relative(root, folder).replaceAll(sep, '/'), each.folder),
    ...(commit !== null && { baseline: `git:${commit}` }),
    package: packageOf(serviceFile),
  }));
  const temporary = mkdtempSync(join(tmpdir(), 'deedwire-check-'));
  try {
    // Outside of the repository, so it applies to the release too.
    const config = join(temporary, 'contract-check.json');
    writeFileSync(config, JSON.stringify({ contracts }));
    const args = [...process.execArgv, bin, 'workspace', '--root', relative('.', root) || '.', '--config', config];
    if (withChangesets === null) args.push('--declared', 'major');
    // What is committed counts as merged, for exceptions.
    if (runGit(folder, 'remote') === '') args.push('--base', 'HEAD');
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    await once(child, 'close');
    return child.exitCode ?? 2;
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/** As the application has installed it. */
function findBin(serviceFile: string): string {
  try {
    const entry = createRequire(serviceFile).resolve(name);
    return join(dirname(entry), `bin${extname(entry)}`);
  } catch (cause) {
    if (Object(cause).code !== 'MODULE_NOT_FOUND') throw cause;
    throw new CommandError(`${name} is not installed: \`npm install --save-dev ${name}\`.`);
  }
}

interface Contracts {
  kind: 'graphql' | 'json-schema' | 'manifest';
  folder: string;
  files: readonly string[];
}

/**
 * The contracts that the folder of a service has, or had at a commit, as `contract-check.json` lists them. Its `versions.json` say which
 * versions are released.
 */
function contractsIn(folder: string, commit: string): Contracts[] {
  const before = runGit(folder, 'ls-tree', '-r', '-z', '--name-only', commit, '.').split('\0');
  const now = globSync('*/**/*.{graphql,json}', { cwd: folder }).map((path) => path.replaceAll(sep, '/'));
  const foldersWith = (pattern: RegExp): string[] => [
    ...new Set([...before, ...now].flatMap((path) => pattern.exec(path)?.[1] ?? [])),
  ];
  const all: Contracts[] = [
    ...foldersWith(/^([^/]+)\/[^/]+\.graphql$/).map(
      (each) => ({ kind: 'graphql', folder: each, files: ['*.graphql'] }) as const,
    ),
    ...foldersWith(/^([^/]+)\/own\/[^/]+\.manifest\.json$/).map(
      (each) => ({ kind: 'manifest', folder: each, files: ['own/*.manifest.json'] }) as const,
    ),
    ...foldersWith(/^(events)\/[^/]+\/[^/]+\.json$/).map(
      (each) => ({ kind: 'json-schema', folder: each, files: ['*/*.json'] }) as const,
    ),
  ];
  return all.flatMap((each) => {
    const states = `${each.folder}/versions.json`;
    const isListed = before.includes(states) || !existsSync(join(folder, states));
    if (isListed || !before.some((path) => path.startsWith(`${each.folder}/`))) return [each];
    // Earlier releases did not write it, and what is not listed counts as current.
    process.stdout.write(
      `${commit} has no ${relative('.', join(folder, states))}: of its ${each.kind} files, only current versions are compared.\n`,
    );
    const files = currentFiles(each, JSON.parse(readFileSync(join(folder, states), 'utf8'))).filter((file) =>
      [...before, ...now].includes(`${each.folder}/${file}`),
    );
    return files.length === 0 ? [] : [{ ...each, files }];
  });
}

type States = Readonly<Record<string, { status?: string }>>;

/** @param states of `versions.json`: of events, one level deeper, by their types */
function currentFiles({ kind }: Contracts, states: States | Readonly<Record<string, States>>): string[] {
  if (kind === 'json-schema')
    return Object.entries(states)
      .filter(([type]) => type.includes('.'))
      .flatMap(([type, versions]) => currentOf(versions).map((version) => `${type}/${version}.json`));
  return currentOf(states).map((version) =>
    kind === 'graphql' ? `${version}.graphql` : `own/${version}.manifest.json`,
  );
}

function currentOf(states: object): string[] {
  return Object.entries(states).flatMap(([version, { status }]) => (status === 'current' ? [version] : []));
}

/** The nearest folder that has a file, from a folder upwards to another one. */
function nearest(folder: string, last: string, file: string): string | null {
  for (let each = folder; ; each = dirname(each)) {
    if (existsSync(join(each, file))) return each;
    if (each === last || each === dirname(each)) return null;
  }
}

/** The name in the nearest `package.json`, or that of its folder. */
function packageOf(serviceFile: string): string {
  const path = findPackageJSON(pathToFileURL(serviceFile)) ?? serviceFile;
  const { name: found = basename(dirname(path)) }: { name?: string } = JSON.parse(readFileSync(path, 'utf8'));
  return found;
}

function spawnGit(folder: string, args: readonly string[]) {
  return spawnSync('git', args, { cwd: folder, encoding: 'utf8' });
}

/** @throws {CommandError} with what git says */
function runGit(folder: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnGit(folder, args);
  if (status === 0) return stdout;
  throw new CommandError(`git ${args.join(' ')}, in ${folder}: ${(error?.message ?? stderr).trim()}`);
}
