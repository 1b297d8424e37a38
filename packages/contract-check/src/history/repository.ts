import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { failAt } from '../input-error.ts';
import { remembered } from '../remembered.ts';
import { below, type PackageFiles } from '../source/package-files.ts';
import { foldersAround } from '../source/project.ts';
import { decodeSourceText, readSourceText, type SourceText } from '../text-file.ts';

/** The files of a commit. */
export type CommitFiles = ReturnType<Repository['filesAt']>;

// Starting git takes longer than its work, so a process answers as many questions as possible, and no question is asked twice.

const maxOutputBytes = 1024 * 1024 * 1024;

/** Opens the git repository around a folder. Returns null if there is none. */
export function openRepository(folder: string): Repository | null {
  const { status, stdout, stderr } = runGit(folder, ['rev-parse', '--is-shallow-repository', '--show-prefix', 'HEAD']);
  if (status === 0) return new Repository(folder, stdout.toString().split('\n'));
  if (!isInRepository(folder)) return null;
  const isReadable = runGit(folder, ['rev-parse', '--git-dir']).status === 0;
  failAt(folder, isReadable ? 'the repository has no commit' : stderr);
}

/** The git repository around a folder. */
export class Repository {
  /** Whether the clone lacks the older commits. */
  readonly isShallow: boolean;
  /** The id of the commit that is checked out. */
  readonly head: string;
  readonly #folder: string;
  /** The path of the folder from the root of the repository. Empty, or with a slash at the end. */
  readonly #prefix: string;
  readonly #contents = new Map<string, Uint8Array>();
  readonly #parents = new Map<string, readonly string[]>();
  #refs: ReadonlyMap<string, string> | undefined;

  constructor(folder: string, [shallow, prefix = '', head = '']: readonly string[]) {
    this.#folder = folder;
    this.isShallow = shallow === 'true';
    this.#prefix = prefix;
    this.head = head;
  }

  /** Runs git in the folder and returns what it prints. */
  git(...args: string[]): string {
    const { status, stdout, stderr } = runGit(this.#folder, args);
    if (status !== 0) failAt(this.#folder, `git ${args[0]}: ${stderr}`);
    return stdout.toString();
  }

  /** The lines that git prints. */
  lines(...args: string[]): string[] {
    const printed = this.git(...args);
    return printed.split('\n').filter(Boolean);
  }

  #read(blob: string): Uint8Array {
    if (!this.#contents.has(blob)) this.#load([blob]);
    return this.#contents.get(blob) ?? new Uint8Array();
  }

  #load(blobs: readonly string[]): void {
    const missing = [...new Set(blobs)].filter((blob) => !this.#contents.has(blob));
    for (const [index, object] of readObjects(this.#folder, missing).entries())
      if (object?.type === 'blob') this.#contents.set(missing[index] ?? '', object.content);
  }

  /** The commits of the tags and the remote branches, by the full name of the ref. */
  #knownRefs(): ReadonlyMap<string, string> {
    const format = '--format=%(refname)%00%(objectname)%00%(*objectname)';
    this.#refs ??= new Map(
      this.lines('for-each-ref', format, 'refs/tags', 'refs/remotes').map((line) => {
        const [name = '', object = '', target = ''] = line.split('\0');
        return [name, target === '' ? object : target];
      }),
    );
    return this.#refs;
  }

  /**
   * The id of the commit that a ref names. Null if it names none. `origin/main` is the fetched branch, even if there is a local
   * branch or a tag of this name: a pull request can come from one.
   */
  commitOf(ref: string): string | null {
    const refs = this.#knownRefs();
    const known = refs.get(`refs/remotes/${ref}`) ?? (ref === 'HEAD' ? this.head : refs.get(ref));
    if (known !== undefined) return known;
    for (const name of ref.startsWith('refs/') ? [ref] : [`refs/remotes/${ref}`, ref]) {
      const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
      const found = runGit(this.#folder, args);
      if (found.status === 0) return found.stdout.toString().trim();
    }
    return null;
  }

  /** Tag → id of its commit. */
  tags(): ReadonlyMap<string, string> {
    const tags = [...this.#knownRefs()].filter(([name]) => name.startsWith('refs/tags/'));
    return new Map(tags.map(([name, commit]) => [name.slice('refs/tags/'.length), commit]));
  }

  /** The parents of a commit that the clone has. */
  parentsOf(commit: string): readonly string[] {
    const known = this.#parents.get(commit);
    // The commits at the end of a shallow clone have parents that it lacks.
    if (known !== undefined && !this.isShallow) return known;
    const [, ...ids] = this.git('rev-list', '--parents', '-1', commit).trim().split(' ');
    return ids;
  }

  /** The files of a commit, by its id. `label` names it in the names of files: `git:LABEL:PATH`. */
  readonly filesAt = remembered(
    (commit: string, label: string = commit.slice(0, 12)) => this.#treeOf(commit, label),
    (...key) => key.join(' '),
  );

  #treeOf(commit: string, label: string) {
    const prefix = this.#prefix;
    // By path relative to the root of the repository.
    const blobs = new Map<string, string>();
    const links = new Map<string, string>();
    for (const line of this.git('ls-tree', '-r', '-z', '--full-tree', commit).split('\0')) {
      // A submodule (160000) has no content in this repository.
      const [, mode, blob, path] = /^(100\d+|120000) blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      if (blob !== undefined && path !== undefined) (mode === '120000' ? links : blobs).set(path, blob);
    }
    this.#load([...links.values()]);
    /** The blob of the file to which a link leads. Null if it leads to no file of the commit. */
    const endOf = (path: string): string | null => {
      let at = path;
      // As many links as Linux follows.
      for (let followed = 0; followed < 40; followed += 1) {
        const link = links.get(at);
        if (link === undefined) return blobs.get(at) ?? null;
        at = posix.join(posix.dirname(at), new TextDecoder().decode(this.#read(link)));
      }
      return null;
    };
    const ends = [...links.keys()].map((path) => [path, endOf(path)] as const);
    for (const [path, blob] of ends) if (blob !== null) blobs.set(path, blob);

    const textOf = (path: string): SourceText => {
      const file = `git:${label}:${path}`;
      const blob = blobs.get(path);
      if (blob === undefined) failAt(file, 'file not found');
      const readRelative = (other: string): SourceText => textOf(posix.join(posix.dirname(path), other));
      return { file, text: decodeSourceText(file, this.#read(blob)), readRelative };
    };
    const all = new Map([...blobs.keys()].map((path) => [path, () => textOf(path)] as const));
    const filesIn = (folder: string): PackageFiles => below(all, posix.join(prefix, folder).replace(/^\.\/?$|\/$/, ''));
    return {
      commit,
      /** By path relative to the folder of the repository object. Reading a file that is not loaded starts a git process. */
      files: filesIn(''),
      /** All files, by path relative to the root of the repository. */
      all,
      /** The symbolic links in `files` to something that is no file of the commit. They are not in `files`. */
      brokenLinks: ends.flatMap(([path, blob]) =>
        blob === null && path.startsWith(prefix) ? [path.slice(prefix.length)] : [],
      ),
      /** The id of the content of a file in `files`. Empty if there is none. */
      idOf: (path: string): string => blobs.get(prefix + path) ?? '',
      /** Reads files in one git process. */
      load: (paths: Iterable<string>): void => this.#load([...paths].flatMap((path) => blobs.get(prefix + path) ?? [])),
      /** The file at a path relative to the folder of the repository object, which may be outside of it. Null if it does not exist. */
      fileAt: (path: string): SourceText | null => all.get(posix.join(prefix, path))?.() ?? null,
      /** The files in a folder, by path relative to it. `folder` is relative as in `fileAt`. */
      filesIn,
    };
  }

  /** The path of a file from the root of the repository. `path` is that in a place: relative to the folder if it starts with a dot. */
  fromRoot(path: string): string {
    return /^\.\.?\//.test(path) ? posix.join(this.#prefix, path) : path;
  }

  /** Whether a path relative to the folder is in the repository. */
  contains(path: string): boolean {
    return !posix.join(this.#prefix, path).startsWith('../');
  }

  /** Whether git tracks a file, or a file in a folder. `path` is relative to the folder. */
  tracks(path: string): boolean {
    return this.git('ls-files', '-z', '--', `:(top,literal)${posix.join(this.#prefix, path)}`) !== '';
  }

  /** The texts of files at commits, and the parents of these, in one git process. Null for a missing file. */
  textsAt(places: readonly { readonly commit: string; readonly path: string }[]): (string | null)[] {
    const names = places.map(({ commit, path }) =>
      // git reads one name per line.
      path.includes('\n') ? this.filesAt(commit).idOf(path) : `${commit}:${posix.join(this.#prefix, path)}`,
    );
    const commits = [...new Set(places.map(({ commit }) => commit))].filter((commit) => !this.#parents.has(commit));
    const objects = readObjects(this.#folder, [...names, ...commits]);
    for (const [index, commit] of commits.entries())
      this.#parents.set(commit, parentsIn(objects[names.length + index]));
    return objects
      .slice(0, names.length)
      .map((object) => (object?.type === 'blob' ? new TextDecoder().decode(object.content) : null));
  }
}

/** The files of the commit that `git:REF` names, in the repository around a folder. */
export function commitAt(ref: string, folder: string): { readonly repository: Repository; readonly tree: CommitFiles } {
  const fail = (problem: string): never => failAt(`git:${ref}`, problem);
  // git would take it for an option.
  if (ref === '' || ref.startsWith('-')) fail('must be git:REF or git:REF:PATH');
  const repository = openRepository(folder) ?? fail(`${folder} is not in a git repository`);
  const commit = repository.commitOf(ref) ?? fail('no such commit');
  return { repository, tree: repository.filesAt(commit, ref) };
}

/** The files in a folder that git does not ignore, by path relative to it. Null if the folder is not in a repository. */
export function keptFiles(folder: string): ReadonlySet<string> | null {
  if (!isInRepository(folder)) return null;
  const { status, stdout } = runGit(folder, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  return status === 0 ? new Set(stdout.toString().split('\0')) : null;
}

/** The files in a folder that git has, but that a sparse checkout leaves out, by path relative to the folder. */
export function filesLeftOut(folder: string): PackageFiles {
  if (!existsSync(folder) || !isInRepository(folder)) return new Map();
  const { stdout } = runGit(folder, ['ls-files', '-z', '-t']);
  const paths = [...stdout.toString().matchAll(/(?:^|\0)S ([^\0\n]+)(?=\0)/g)].map(([, path = '']) => path);
  const contents = new Map<string, Uint8Array | undefined>();
  function textOf(path: string): SourceText {
    // All packages are read. A process for each file would take long.
    const missing = paths.filter((each) => posix.basename(each) === posix.basename(path) && !contents.has(each));
    const names = missing.map((each) => `:./${each}`);
    const objects = readObjects(folder, names);
    for (const [index, each] of missing.entries()) contents.set(each, objects[index]?.content);
    const [file, content] = [join(folder, path), contents.get(path)];
    if (content === undefined) return readSourceText(file);
    const readRelative = (other: string): SourceText => textOf(posix.join(posix.dirname(path), other));
    return { file, text: decodeSourceText(file, content), readRelative };
  }
  return new Map(paths.map((path) => [path, () => textOf(path)]));
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
  if (status !== 0) failAt(folder, `git cat-file: ${stderr}`);
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
function runGit(folder: string, args: readonly string[], input = '') {
  // A ref in `refs/replace/` would change what a commit contains.
  const { status, stdout, stderr, error } = spawnSync('git', ['--no-replace-objects', ...args], {
    cwd: folder,
    input,
    maxBuffer: maxOutputBytes,
  });
  if (error !== undefined) failAt(folder, `cannot run git: ${error.message}`, { cause: error });
  const [line = ''] = stderr.toString().trim().split('\n', 1);
  return { status, stdout, stderr: line.replace(/^fatal: /, '') };
}
