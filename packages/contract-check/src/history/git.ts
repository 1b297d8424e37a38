import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { remembered } from '../remembered.ts';
import { foldersAround } from '../source/project.ts';

// The only place that starts git. By itself, git takes a folder with the files of a bare repository, which a pull request can add,
// for the repository, and believes what a hook, an alias or `rebase --exec` of another repository or work tree has exported.

/** Git failed, so it is unknown what the repository contains. No `InputError`: nothing may take it for an absent or invalid file. */
export class RepositoryError extends Error {
  override readonly name = 'RepositoryError';
  readonly code = 'CONTRACT_REPOSITORY_UNREADABLE';
}

/** Where the repository around a folder is, by real paths. */
export interface RepositoryPlace {
  /** As the caller passed it. */
  readonly folder: string;
  readonly gitDir: string;
  /** The root of the working tree. Null if only GIT_DIR names the repository. */
  readonly root: string | null;
  /** The path of the folder from the root. Empty, or with a slash at the end. */
  readonly prefix: string;
}

/**
 * The repository around a folder: the nearest `.git`, which no commit can contain. Otherwise what GIT_DIR and GIT_WORK_TREE name, as
 * in a hook of a server, which runs in a bare repository. Null if there is none. Starts no process.
 */
export function repositoryAround(folder: string): RepositoryPlace | null {
  if (!existsSync(folder)) return null;
  const real = realpathSync(folder);
  const placeAt = (gitDir: string, root: string): RepositoryPlace => {
    const path = relative(root, real).replaceAll(sep, '/');
    return { folder, gitDir, root, prefix: path === '' ? '' : `${path}/` };
  };
  const around = foldersAround(real).find((each) => existsSync(join(each, '.git')));
  if (around !== undefined) return placeAt(join(around, '.git'), around);
  const { GIT_DIR = '', GIT_WORK_TREE = '' } = process.env;
  if (GIT_DIR === '') return null;
  if (GIT_WORK_TREE === '') return { folder, gitDir: resolve(GIT_DIR), root: null, prefix: '' };
  const root = realpathSync(GIT_WORK_TREE);
  const place = placeAt(resolve(GIT_DIR), root);
  if (place.prefix.startsWith('../')) throw new RepositoryError(`${folder}: is not in GIT_WORK_TREE, which is ${root}`);
  return place;
}

/**
 * The variables that name a repository, a work tree, an index or the meaning of paths. What a hook of a server needs to read pushed
 * objects stays (GIT_OBJECT_DIRECTORY, GIT_ALTERNATE_OBJECT_DIRECTORIES), and so do settings, such as `safe.directory` of a container.
 */
const removed = new Set([
  'GIT_ATTR_SOURCE',
  'GIT_CEILING_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_DIR',
  'GIT_DISCOVERY_ACROSS_FILESYSTEM',
  'GIT_GLOB_PATHSPECS',
  'GIT_GRAFT_FILE',
  'GIT_ICASE_PATHSPECS',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_LITERAL_PATHSPECS',
  'GIT_NAMESPACE',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_PREFIX',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
]);

/** Settings of the user can name programs in the working tree, which the pull request has written. */
const settings = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'log.showSignature=false',
  'safe.bareRepository=explicit',
];

const maxOutputBytes = 1024 * 1024 * 1024;

/** Runs git in the folder of a place. `stderr` is its first line, without the severity. */
export function runGit(place: RepositoryPlace, args: readonly string[], input = '') {
  if (place.root !== null && place.gitDir === join(place.root, '.git')) checkRoot(place.root);
  const tree = place.root === null ? [] : [`--work-tree=${place.root}`];
  return start(place.folder, [`--git-dir=${place.gitDir}`, ...tree, ...args], input);
}

/**
 * Checks that git finds the same repository by itself. Given a repository, it would also read that of another user: it compares the
 * owner, and reads `safe.directory`, only if it finds the repository.
 */
const checkRoot = remembered((root: string): void => {
  const { status, stdout, stderr } = start(root, ['rev-parse', '--show-toplevel'], '');
  if (status !== 0) throw new RepositoryError(`${root}: ${stderr}`);
  const found = stdout.toString().replace(/\n$/, '');
  if (relative(root, resolve(found)) !== '')
    throw new RepositoryError(`${root}: contains .git, but git takes ${found} for the root of the working tree`);
});

function start(folder: string, args: readonly string[], input: string) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !removed.has(name)));
  const all = ['--no-replace-objects', ...settings.flatMap((each) => ['-c', each]), ...args];
  const { status, stdout, stderr, error } = spawnSync('git', all, {
    cwd: folder,
    env,
    input,
    maxBuffer: maxOutputBytes,
  });
  if (error !== undefined) throw new RepositoryError(`${folder}: cannot run git: ${error.message}`, { cause: error });
  const [line = ''] = stderr.toString().trim().split('\n', 1);
  return { status, stdout, stderr: line.replace(/^fatal: /, '') };
}
