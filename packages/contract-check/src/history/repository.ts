import { join, posix } from 'node:path';
import { failAt } from '../input-error.ts';
import { remembered } from '../remembered.ts';
import { below, type PackageFiles } from '../source/package-files.ts';
import { foldersAround } from '../source/project.ts';
import { decodeSourceText, readSourceText, type SourceText } from '../text-file.ts';
import { repositoryAround, RepositoryError, runGit, type RepositoryPlace } from './git.ts';

/** The files of a commit. */
export type CommitFiles = ReturnType<Repository['filesAt']>;

// Starting git takes longer than its work, so a process answers as many questions as possible, and no question is asked twice.

/** Opens the git repository around a folder. Returns null if there is none. */
export function openRepository(folder: string): Repository | null {
  const place = repositoryAround(folder);
  if (place === null) return null;
  const asked = ['--is-bare-repository', '--is-shallow-repository', '--show-prefix', 'HEAD'];
  const { status, stdout } = runGit(place, ['rev-parse', ...asked]);
  if (status !== 0) {
    runOrFail(place, ['rev-parse', '--git-dir']);
    failAt(folder, 'the repository has no commit');
  }
  const [isBare, isShallow, prefix, head = ''] = stdout.toString().split('\n');
  if (place.root === null && isBare === 'false')
    failAt(
      folder,
      `is not in the working tree of the repository that GIT_DIR names, ${place.gitDir}. Set GIT_WORK_TREE to the folder that has its files.`,
    );
  if (prefix !== place.prefix)
    failAt(folder, `git takes the folder for ${prefix || 'the root'} of its repository, but it is ${place.prefix}`);
  return new Repository(place, isShallow === 'true', head);
}

/** The git repository around a folder. */
export class Repository {
  /** Whether the clone lacks the older commits. */
  readonly isShallow: boolean;
  /** The id of the commit that is checked out. */
  readonly head: string;
  /** Whether it is known where the folder is in the repository. It is not in a bare one. */
  readonly hasWorkingTree: boolean;
  readonly #place: RepositoryPlace;
  /** The path of the folder from the root of the repository. Empty, or with a slash at the end. */
  readonly #prefix: string;
  readonly #contents = new Map<string, Uint8Array>();
  readonly #parents = new Map<string, readonly string[]>();
  #refs: ReadonlyMap<string, string> | undefined;

  constructor(place: RepositoryPlace, isShallow: boolean, head: string) {
    this.#place = place;
    this.#prefix = place.prefix;
    this.hasWorkingTree = place.root !== null;
    this.isShallow = isShallow;
    this.head = head;
  }

  /** Runs git in the folder and returns what it prints. */
  git(...args: string[]): string {
    return runOrFail(this.#place, args).toString();
  }

  /** The lines that git prints. */
  lines(...args: string[]): string[] {
    const printed = this.git(...args);
    return printed.split('\n').filter(Boolean);
  }

  #read(blob: string): Uint8Array {
    const content = this.#contents.get(blob);
    if (content !== undefined) return content;
    this.#load([blob]);
    return this.#read(blob);
  }

  #load(blobs: readonly string[]): void {
    const missing = [...new Set(blobs)].filter((blob) => !this.#contents.has(blob));
    for (const [index, object] of readObjects(this.#place, missing).entries()) {
      const blob = missing[index] ?? '';
      this.#contents.set(blob, (object ?? lacks(this.#place, blob)).content);
    }
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
      const found = runGit(this.#place, args);
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

  /** The newest commits that a commit and HEAD have in common. */
  mergeBases(commit: string): string[] {
    const { status, stdout, stderr } = runGit(this.#place, ['merge-base', '--all', commit, 'HEAD']);
    // 1: there is none.
    if (status !== 0 && status !== 1) throw new RepositoryError(`git merge-base: ${stderr}`);
    return stdout.toString().split('\n').filter(Boolean);
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
    return !posix.isAbsolute(path) && !posix.join(this.#prefix, path).startsWith('../');
  }

  /** Whether git tracks a file, or a file in a folder. `path` is relative to the folder. */
  tracks(path: string): boolean {
    return this.git('ls-files', '-z', '--', `:(top,literal)${posix.join(this.#prefix, path)}`) !== '';
  }

  /** The texts of files at commits, and the parents of these, in one git process. Null for a file that the commit does not have. */
  textsAt(places: readonly { readonly commit: string; readonly path: string }[]): (string | null)[] {
    const names = places.map(({ commit, path }) =>
      // git reads one name per line.
      path.includes('\n') ? this.filesAt(commit).idOf(path) : `${commit}:${posix.join(this.#prefix, path)}`,
    );
    const commits = [...new Set(places.map(({ commit }) => commit))].filter((commit) => !this.#parents.has(commit));
    const objects = readObjects(this.#place, [...names, ...commits]);
    for (const [index, commit] of commits.entries())
      this.#parents.set(commit, parentsIn(objects[names.length + index] ?? lacks(this.#place, commit)));
    const unread = places.filter((_, index) => objects[index] === null);
    for (const [commit, absent] of Map.groupBy(unread, (each) => each.commit))
      this.#checkAbsent(
        commit,
        absent.map(({ path }) => posix.join(this.#prefix, path)),
      );
    return objects
      .slice(0, names.length)
      .map((object) => (object?.type === 'blob' ? new TextDecoder().decode(object.content) : null));
  }

  /** @throws {RepositoryError} when a commit has one of the files, so that git lacks its content */
  #checkAbsent(commit: string, paths: readonly string[]): void {
    const entries = this.git('ls-tree', '-z', '--full-tree', commit, '--', ...paths).split('\0');
    for (const entry of entries) {
      const [, blob, path = ''] = /^\d+ blob (\w+)\t(.*)$/s.exec(entry) ?? [];
      if (blob !== undefined && paths.includes(path)) lacks(this.#place, blob);
    }
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

/** Null for a bare repository, which has no index. */
function workingTreeAround(folder: string): RepositoryPlace | null {
  const place = repositoryAround(folder);
  return place?.root === null ? null : place;
}

/** The files in a folder that git does not ignore, by path relative to it. Null if the folder is not in a working tree. */
export function keptFiles(folder: string): ReadonlySet<string> | null {
  const place = workingTreeAround(folder);
  if (place === null) return null;
  const listed = runOrFail(place, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']).toString();
  return new Set(listed.split('\0'));
}

/** The files in a folder that git has, but that a sparse checkout leaves out, by path relative to the folder. */
export function filesLeftOut(folder: string): PackageFiles {
  const place = workingTreeAround(folder);
  return place === null ? new Map() : leftOutOf(place);
}

function leftOutOf(place: RepositoryPlace): PackageFiles {
  const listed = runOrFail(place, ['ls-files', '-z', '-t']).toString();
  const paths = [...listed.matchAll(/(?:^|\0)S ([^\0\n]+)(?=\0)/g)].map(([, path = '']) => path);
  const contents = new Map<string, Uint8Array>();
  function contentOf(path: string): Uint8Array | undefined {
    // All packages are read. A process for each file would take long.
    const missing = paths.filter((each) => posix.basename(each) === posix.basename(path) && !contents.has(each));
    const names = missing.map((each) => `:./${each}`);
    const objects = readObjects(place, names);
    for (const [index, each] of missing.entries())
      contents.set(each, (objects[index] ?? lacks(place, names[index] ?? '')).content);
    return contents.get(path);
  }
  function textOf(path: string): SourceText {
    const [file, content] = [join(place.folder, path), contentOf(path)];
    if (content === undefined) return readSourceText(file);
    const readRelative = (other: string): SourceText => textOf(posix.join(posix.dirname(path), other));
    return { file, text: decodeSourceText(file, content), readRelative };
  }
  return new Map(paths.map((path) => [path, () => textOf(path)]));
}

/**
 * A `node_modules` in a folder or around it in which git tracks files, so that a pull request can have written what Node loads from
 * there. Undefined if there is none.
 */
export function trackedModules(folder: string): string | undefined {
  const place = workingTreeAround(folder);
  if (place === null) return undefined;
  const folders = foldersAround(posix.join('.', place.prefix)).map((each) => posix.join(each, 'node_modules'));
  // A file system can take NODE_MODULES for it.
  const patterns = folders.map((each) => `:(top,icase,literal)${each}`);
  return runOrFail(place, ['ls-files', '-z', '--', ...patterns])
    .toString()
    .split('\0')
    .find((path) => path !== '');
}

interface GitObject {
  readonly type: string;
  readonly content: Uint8Array;
}

/** The parents in the header of a commit. */
function parentsIn({ content }: GitObject): string[] {
  const [header = ''] = new TextDecoder().decode(content).split('\n\n', 1);
  return [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id = '']) => id);
}

/** Objects by id or `COMMIT:PATH`. Null for what git lacks, which may be the path or only its content. */
function readObjects(place: RepositoryPlace, names: readonly string[]): (GitObject | null)[] {
  if (names.length === 0) return [];
  const stdout = runOrFail(place, ['cat-file', '--batch'], `${names.join('\n')}\n`);
  let at = 0;
  return names.map((name) => {
    const end = stdout.indexOf(0x0a, at);
    const line = stdout.subarray(at, end).toString();
    const [, type = '', bytes] = / (\w+) (\d+)$/.exec(line) ?? [];
    at = end + 1;
    if (bytes === undefined) {
      // The content of a submodule is in another repository.
      if (line.endsWith(' missing') || line.endsWith(' submodule')) return null;
      throw new RepositoryError(`${place.folder}: git cat-file: ${line || `no answer about ${name}`}`);
    }
    const content = stdout.subarray(at, at + Number(bytes));
    // A line end follows each content.
    at += Number(bytes) + 1;
    return { type, content };
  });
}

function lacks({ folder }: RepositoryPlace, object: string): never {
  throw new RepositoryError(
    `${folder}: the repository lacks the object ${object}. Look for damage with git fsck, or fetch it again with git fetch --refetch`,
  );
}

/** Runs git in the folder of a place and returns what it prints. */
function runOrFail(place: RepositoryPlace, args: readonly string[], input?: string): Buffer {
  const { status, stdout, stderr } = runGit(place, args, input);
  if (status !== 0) throw new RepositoryError(`${place.folder}: git ${args[0]}: ${stderr}`);
  return stdout;
}
