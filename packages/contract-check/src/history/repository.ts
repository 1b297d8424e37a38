import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { InputError } from '../input-error.ts';
import { foldersAround } from '../source/folders-around.ts';
import type { PackageFiles } from '../source/package-files.ts';
import { decodeSourceText, readSourceText, type SourceText } from '../text-file.ts';

/** The files of a commit. */
export interface CommitFiles {
  readonly commit: string;
  /** By path relative to the folder of the repository object. Reading a file that is not loaded starts a git process. */
  readonly files: PackageFiles;
  /** The paths of all files relative to the root of the repository. */
  readonly paths: Iterable<string>;
  /** The symbolic links in `files` to something that is no file of the commit. They are not in `files`. */
  readonly brokenLinks: readonly string[];
  /** Path → id of the content. */
  readonly blobs: ReadonlyMap<string, string>;
  /** Reads files in one git process. */
  load(paths: Iterable<string>): void;
  /** The file at a path relative to the folder of the repository object, which may be outside of it. Null if it does not exist. */
  fileAt(path: string): SourceText | null;
  /** The files in a folder, by path relative to it. `folder` is relative as in `fileAt`. */
  filesIn(folder: string): PackageFiles;
}

/** The git repository around a folder. */
export interface Repository {
  /** Whether the clone lacks the older commits. */
  readonly isShallow: boolean;
  /** The id of the commit that is checked out. */
  readonly head: string;
  /**
   * Runs git in the folder and returns what it prints.
   *
   * @throws {InputError} when git fails.
   */
  git(...args: string[]): string;
  /** The lines that git prints. */
  lines(...args: string[]): string[];
  /**
   * The id of the commit that a ref names. Null if it names none. `origin/main` is the fetched branch, even if there is a local
   * branch or a tag of this name: a pull request can come from one.
   */
  commitOf(ref: string): string | null;
  /** Tag → id of its commit. */
  tags(): ReadonlyMap<string, string>;
  /** The parents of a commit that the clone has. */
  parentsOf(commit: string): readonly string[];
  /** @param commit its id */
  filesAt(commit: string): CommitFiles;
  /** Whether a path relative to the folder is in the repository. */
  contains(path: string): boolean;
  /** Whether git tracks a file, or a file in a folder. `path` is relative to the folder. */
  tracks(path: string): boolean;
  /**
   * The texts of files at commits, in one git process, which also reads the parents of the commits. Null for a file that the
   * commit does not have. Replaces invalid UTF-8.
   */
  textsAt(places: readonly { readonly commit: string; readonly path: string }[]): (string | null)[];
}

// Starting git takes longer than its work, so a process answers as many questions as possible, and no question is asked twice.

const maxOutputBytes = 1024 * 1024 * 1024;

/**
 * Opens the git repository around a folder. Returns null if there is none.
 *
 * @throws {InputError} when git is missing, or the repository has no commit.
 */
export function openRepository(folder: string): Repository | null {
  const { status, stdout, stderr } = runGit(folder, ['rev-parse', '--is-shallow-repository', '--show-prefix', 'HEAD']);
  if (status !== 0) {
    if (!isInRepository(folder)) return null;
    const isReadable = runGit(folder, ['rev-parse', '--git-dir']).status === 0;
    throw new InputError(folder, null, isReadable ? 'the repository has no commit' : stderr);
  }
  const [shallow = '', prefix = '', head = ''] = stdout.toString().split('\n');
  const isShallow = shallow === 'true';
  const contents = new Map<string, Uint8Array>();
  const trees = new Map<string, CommitFiles>();
  const parents = new Map<string, readonly string[]>();
  let refs: ReadonlyMap<string, string> | undefined;

  function git(...args: string[]): string {
    const result = runGit(folder, args);
    if (result.status !== 0) throw new InputError(folder, null, `git ${args[0]}: ${result.stderr}`);
    return result.stdout.toString();
  }

  function lines(...args: string[]): string[] {
    return git(...args)
      .split('\n')
      .filter(Boolean);
  }

  function read(blob: string): Uint8Array {
    if (!contents.has(blob)) load([blob]);
    return contents.get(blob) ?? new Uint8Array();
  }

  function load(blobs: readonly string[]): void {
    const missing = [...new Set(blobs)].filter((blob) => !contents.has(blob));
    for (const [index, object] of readObjects(folder, missing).entries())
      if (object?.type === 'blob') contents.set(missing[index] ?? '', object.content);
  }

  /** The commits of the tags and the remote branches, by the full name of the ref. */
  function readRefs(): ReadonlyMap<string, string> {
    const format = '--format=%(refname)%00%(objectname)%00%(*objectname)';
    return new Map(
      lines('for-each-ref', format, 'refs/tags', 'refs/remotes').map((line) => {
        const [name = '', object = '', target = ''] = line.split('\0');
        return [name, target === '' ? object : target];
      }),
    );
  }

  function knownRefs(): ReadonlyMap<string, string> {
    refs ??= readRefs();
    return refs;
  }

  return {
    isShallow,
    head,
    git,
    lines,
    commitOf(ref) {
      const known = knownRefs().get(`refs/remotes/${ref}`) ?? (ref === 'HEAD' ? head : knownRefs().get(ref));
      if (known !== undefined) return known;
      for (const name of ref.startsWith('refs/') ? [ref] : [`refs/remotes/${ref}`, ref]) {
        const found = runGit(folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]);
        if (found.status === 0) return found.stdout.toString().trim();
      }
      return null;
    },
    tags: () =>
      new Map(
        [...knownRefs()]
          .filter(([name]) => name.startsWith('refs/tags/'))
          .map(([name, commit]) => [name.slice('refs/tags/'.length), commit]),
      ),
    parentsOf(commit) {
      const known = parents.get(commit);
      // The commits at the end of a shallow clone have parents that it lacks.
      if (known !== undefined && !isShallow) return known;
      const [, ...ids] = git('rev-list', '--parents', '-1', commit).trim().split(' ');
      return ids;
    },
    filesAt(commit) {
      const known = trees.get(commit);
      if (known !== undefined) return known;
      // By path relative to the root of the repository.
      const blobs = new Map<string, string>();
      const links = new Map<string, string>();
      for (const line of git('ls-tree', '-r', '-z', '--full-tree', commit).split('\0')) {
        // A submodule (160000) has no content in this repository.
        const [, mode, blob, path] = /^(100\d+|120000) blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
        if (blob !== undefined && path !== undefined) (mode === '120000' ? links : blobs).set(path, blob);
      }
      load([...links.values()]);
      const ends = [...links.keys()].map((path) => [path, endOf(path)] as const);
      for (const [path, blob] of ends) if (blob !== null) blobs.set(path, blob);

      /** The blob of the file to which a link leads. Null if it leads to no file of the commit. */
      function endOf(path: string): string | null {
        let at = path;
        // As many links as Linux follows.
        for (let followed = 0; followed < 40; followed += 1) {
          const link = links.get(at);
          if (link === undefined) return blobs.get(at) ?? null;
          at = posix.join(posix.dirname(at), new TextDecoder().decode(read(link)));
        }
        return null;
      }

      function textOf(path: string): SourceText {
        const file = `git:${commit.slice(0, 12)}:${path}`;
        const blob = blobs.get(path);
        if (blob === undefined) throw new InputError(file, null, 'file not found');
        const readRelative = (other: string): SourceText => textOf(posix.join(posix.dirname(path), other));
        return { file, text: decodeSourceText(file, read(blob)), readRelative };
      }

      function filesIn(relative: string): PackageFiles {
        const start = posix.join(prefix, relative, '/').replace(/^\.?\//, '');
        return new Map(
          [...blobs.keys()]
            .filter((path) => path.startsWith(start))
            .map((path) => [path.slice(start.length), () => textOf(path)] as const),
        );
      }

      const files = filesIn('');
      const tree: CommitFiles = {
        commit,
        files,
        paths: blobs.keys(),
        brokenLinks: ends.flatMap(([path, blob]) =>
          blob === null && path.startsWith(prefix) ? [path.slice(prefix.length)] : [],
        ),
        blobs: new Map([...files.keys()].map((path) => [path, blobs.get(prefix + path) ?? ''] as const)),
        load: (paths) => load([...paths].flatMap((path) => blobs.get(prefix + path) ?? [])),
        fileAt(path) {
          const full = posix.join(prefix, path);
          return blobs.has(full) ? textOf(full) : null;
        },
        filesIn,
      };
      trees.set(commit, tree);
      return tree;
    },
    contains: (path) => !posix.join(prefix, path).startsWith('../'),
    tracks: (path) => git('ls-files', '-z', '--', `:(top,literal)${posix.join(prefix, path)}`) !== '',
    textsAt(places) {
      const names = places.map(({ commit, path }) =>
        // git reads one name per line.
        path.includes('\n') ? (this.filesAt(commit).blobs.get(path) ?? '') : `${commit}:${posix.join(prefix, path)}`,
      );
      const commits = [...new Set(places.map(({ commit }) => commit))].filter((commit) => !parents.has(commit));
      const objects = readObjects(folder, [...names, ...commits]);
      for (const [index, commit] of commits.entries()) parents.set(commit, parentsIn(objects[names.length + index]));
      return objects
        .slice(0, names.length)
        .map((object) => (object?.type === 'blob' ? new TextDecoder().decode(object.content) : null));
    },
  };
}

/**
 * The files in a folder that git has, or will have once they are added: not those that it ignores. By path relative to the folder.
 * Null if the folder is not in a repository.
 */
export function keptFiles(folder: string): ReadonlySet<string> | null {
  if (!isInRepository(folder)) return null;
  const { status, stdout } = runGit(folder, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  return status === 0 ? new Set(stdout.toString().split('\0')) : null;
}

/**
 * The files in a folder that git has, but that a sparse checkout leaves out, by path relative to the folder.
 *
 * @param skips whether to leave out the folders of a name
 */
export function filesLeftOut(folder: string, skips: (name: string) => boolean): PackageFiles {
  if (!isInRepository(folder)) return new Map();
  const { stdout } = runGit(folder, ['ls-files', '-z', '-t']);
  const paths = [...stdout.toString().matchAll(/(?:^|\0)S ([^\0\n]+)(?=\0)/g)].map(([, path = '']) => path);
  const contents = new Map<string, Uint8Array | undefined>();
  function textOf(path: string): SourceText {
    // All packages are read. A process for each file would take long.
    const missing = paths.filter((each) => posix.basename(each) === posix.basename(path) && !contents.has(each));
    const objects = readObjects(
      folder,
      missing.map((each) => `:./${each}`),
    );
    for (const [index, each] of missing.entries()) contents.set(each, objects[index]?.content);
    const [file, content] = [join(folder, path), contents.get(path)];
    if (content === undefined) return readSourceText(file);
    const readRelative = (other: string): SourceText => textOf(posix.join(posix.dirname(path), other));
    return { file, text: decodeSourceText(file, content), readRelative };
  }
  const found = paths.filter((path) => !posix.dirname(path).split('/').some(skips));
  return new Map(found.map((path) => [path, () => textOf(path)]));
}

/** Asks the file system, because the messages of git depend on the language. */
function isInRepository(folder: string): boolean {
  return foldersAround(resolve(folder)).some((each) => existsSync(join(each, '.git')));
}

interface GitObject {
  readonly type: string;
  readonly content: Uint8Array;
}

/** The parents in the header of a commit. */
function parentsIn(object: GitObject | null | undefined): string[] {
  const [header = ''] = new TextDecoder().decode(object?.content).split('\n\n', 1);
  return [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id = '']) => id);
}

/** Objects by id or `COMMIT:PATH`. Null for a name that does not exist. */
function readObjects(folder: string, names: readonly string[]): (GitObject | null)[] {
  if (names.length === 0) return [];
  const { status, stdout, stderr } = runGit(folder, ['cat-file', '--batch'], `${names.join('\n')}\n`);
  if (status !== 0) throw new InputError(folder, null, `git cat-file: ${stderr}`);
  let at = 0;
  return names.map(() => {
    const end = stdout.indexOf(0x0a, at);
    const [, type = '', bytes] = / (\w+) (\d+)$/.exec(stdout.subarray(at, end).toString()) ?? [];
    at = end + 1;
    if (bytes === undefined) return null;
    const content = stdout.subarray(at, at + Number(bytes));
    // A line end follows each content.
    at += Number(bytes) + 1;
    return { type, content };
  });
}

/** `stderr` is its first line, without the severity. */
export function runGit(
  folder: string,
  args: readonly string[],
  input = '',
): { status: number | null; stdout: Buffer; stderr: string } {
  // A ref in `refs/replace/` would change what a commit contains.
  const { status, stdout, stderr, error } = spawnSync('git', ['--no-replace-objects', ...args], {
    cwd: folder,
    input,
    maxBuffer: maxOutputBytes,
  });
  if (error !== undefined) throw new InputError(folder, null, `cannot run git: ${error.message}`, { cause: error });
  const [line = ''] = stderr.toString().trim().split('\n', 1);
  return { status, stdout, stderr: line.replace(/^fatal: /, '') };
}
