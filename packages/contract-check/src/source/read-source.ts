import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import { commitAt } from '../history/repository.ts';
import { failAt } from '../input-error.ts';
import { decodeSourceText, readSourceText, type SourceText } from '../text-file.ts';
import { npmPackageFiles } from './npm-package.ts';
import {
  filesOfFolder,
  filesOfTarball,
  isForeign,
  isPattern,
  readAmong,
  readMatching,
  type PackageFiles,
} from './package-files.ts';
import { packageOf } from './project.ts';
import { readServedSchema, readUrl, type RequestHeaders } from './url.ts';

/**
 * Where contracts are. `url`: over HTTP. `git`: `git:REF[:PATH]`. `npm`: `npm:NAME@RANGE[:PATH]`. `input`: `-`, the standard input.
 * `tarball`: `FILE.tgz[:PATH]`, written by `npm pack`. `local`: the path of a file or a folder.
 */
type PlaceKind = 'local' | 'tarball' | 'input' | 'git' | 'npm' | 'url';

export function kindOfPlace(place: string): PlaceKind {
  if (place === '-') return 'input';
  if (place.startsWith('git:')) return 'git';
  if (place.startsWith('npm:')) return 'npm';
  if (/^https?:\/\//.test(place)) return 'url';
  return tarball.test(place) ? 'tarball' : 'local';
}

const tarball = /^(.+\.(?:tgz|tar\.gz))(?::(.+))?$/;

/** Splits a place of the kind `git`, `npm` or `tarball`. The path is null if the place has none. */
export function splitPlace(place: string): { readonly files: string; readonly path: string | null } {
  const [, files = place, path = null] = /^((?:git|npm):[^:]*):(.+)$/.exec(place) ?? tarball.exec(place) ?? [];
  return { files, path };
}

interface SourceContext {
  /**
   * The places of the other side. Their paths are those of the files in a place without a path, such as `npm:NAME@RANGE`. Empty if
   * there is no other side, so that such a place is invalid.
   */
  readonly others: readonly string[];
  /** Whether the files are GraphQL schemas, for which a server can be asked. */
  readonly isGraphql: boolean;
  /** For servers. */
  readonly headers: RequestHeaders;
  /** Reads the standard input to its end. */
  readonly readInput: () => Uint8Array;
}

/** Reads contract files from places. A path can be a pattern of several files. */
export async function readSources(places: readonly string[], context: SourceContext): Promise<SourceText[]> {
  const found = [];
  // One after the other, so that the first invalid place is reported.
  for (const place of places) found.push(...(await readPlace(place, context)));
  return [...new Map(found.map((source) => [source.file, source])).values()];
}

async function readPlace(place: string, context: SourceContext): Promise<SourceText[]> {
  const { others, isGraphql, headers, readInput } = context;
  const { files, path } = splitPlace(place);
  const isSeveral = kindOfPlace(place) === 'local' ? isFolder(place) : !['input', 'url'].includes(kindOfPlace(place));
  if (others.length === 0 && path === null && isSeveral) failWithoutPath(place);
  switch (kindOfPlace(place)) {
    case 'input':
      return [{ file: 'standard input', text: decodeSourceText('standard input', readInput()) }];
    case 'url':
      return [await (isGraphql ? readServedSchema : readUrl)(place, headers)];
    case 'git': {
      const paths = path === null ? others.map((other) => `./${relativePath(other, '.', place)}`) : [path];
      const { repository, tree } = commitAt(files.slice('git:'.length), '.');
      return paths.flatMap((each) => readAmong(tree.all, files, repository.fromRoot(each)));
    }
    case 'local':
      if (!isFolder(place)) return readLocal(place);
      return pathsInPackage(others, place).flatMap((each) => readLocal(join(place, each)));
    case 'npm':
    case 'tarball': {
      const paths = path === null ? pathsInPackage(others, place) : [path];
      const all = await readFiles(files, '.');
      return paths.flatMap((each) => readAmong(all, files, each));
    }
  }
}

function isFolder(path: string): boolean {
  // False if a link leads nowhere, or to itself.
  return existsSync(`${path}/.`);
}

/** The paths of the files of the other side relative to the folders of their packages. */
function pathsInPackage(others: readonly string[], place: string): string[] {
  return others.map((other) => {
    const path = relativePath(other, packageOf(dirname(other))?.folder ?? '.', place);
    return path.startsWith('../') ? failWithoutPath(place) : path;
  });
}

function relativePath(other: string, folder: string, place: string): string {
  if (kindOfPlace(other) !== 'local' || isFolder(other)) failWithoutPath(place);
  return relative(folder, resolve(other)).replaceAll(sep, '/');
}

function failWithoutPath(place: string): never {
  const [problem, end] = kindOfPlace(place) === 'local' ? ['is a folder. Add', '/'] : ['add', ':'];
  failAt(place, `${problem} the path of the file: ${place}${end}PATH`);
}

/** @param onLink receives the path of each symbolic link, which a pattern does not follow */
export function readLocal(path: string, onLink?: (path: string) => void): SourceText[] {
  if (existsSync(path) || !isPattern(path)) return [readSourceText(path)];
  const { base, glob } = picomatch.scan(path);
  const files = filesOfFolder(base === '' ? '.' : base, isForeign, onLink) ?? new Map();
  return readMatching(files, glob, path);
}

/** Reads the files at a place: `git:REF` in `folder`, `npm:` by the text of an `.npmrc` or by that of the current folder. */
export async function readFiles(place: string, folder: string, npmrc?: string | null): Promise<PackageFiles> {
  switch (kindOfPlace(place)) {
    case 'git':
      return commitAt(place.slice('git:'.length), folder).tree.files;
    case 'npm':
      return npmPackageFiles(place.slice('npm:'.length), npmrc);
    case 'tarball':
      if (!existsSync(place)) failAt(place, 'tarball not found');
      return filesOfTarball(place);
    case 'local': {
      const files = filesOfFolder(place);
      if (files === null) failAt(place, 'folder or tarball not found');
      return files;
    }
    case 'input':
    case 'url':
      failAt(place, 'is one file, not a folder, a tarball, git:REF or npm:NAME@RANGE');
  }
}
