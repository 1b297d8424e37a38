import { posix } from 'node:path';
import { runGit } from '../history/repository.ts';
import { InputError } from '../input-error.ts';
import { decodeSourceText, type SourceText } from '../text-file.ts';
import type { PackageFiles } from './package-files.ts';

/**
 * Reads a file of a commit.
 *
 * @param path relative to the root of the repository, or to `folder` if it starts with `./` or `../`
 * @throws {InputError} when git does not find the commit or the file.
 */
export function readGitFile(ref: string, path: string, folder: string): SourceText {
  const name = pathFromRoot(ref, path, folder);
  return fileOfCommit(ref, checkedRef(`git:${ref}:${name}`, ref, folder), name, folder);
}

/**
 * The files of a commit, by path relative to the root of the repository of `folder`.
 *
 * @throws {InputError} when git does not find the commit.
 */
export function filesOfCommit(ref: string, folder: string): PackageFiles {
  const place = `git:${ref}`;
  const checked = checkedRef(place, ref, folder);
  const listed = git(place, ['ls-tree', '-r', '-z', '--full-tree', '--name-only', checked], folder);
  const paths = decodeSourceText(place, listed).split('\0').filter(Boolean);
  return new Map(paths.map((path) => [path, () => fileOfCommit(ref, checked, path, folder)]));
}

/** The path of a file relative to the root of the repository. `path` is that of `readGitFile`. */
export function pathFromRoot(ref: string, path: string, folder: string): string {
  if (!/^\.\.?\//.test(path)) return path;
  const place = `git:${ref}`;
  const prefix = decodeSourceText(place, git(place, ['rev-parse', '--show-prefix'], folder)).trimEnd();
  return posix.join(prefix, path);
}

/** @param checked the ref as git finds it */
function fileOfCommit(ref: string, checked: string, path: string, folder: string): SourceText {
  const file = `git:${ref}:${path}`;
  const text = decodeSourceText(file, git(file, ['show', `${checked}:${path}`], folder));
  const readRelative = (other: string): SourceText =>
    fileOfCommit(ref, checked, posix.join(posix.dirname(path), other), folder);
  return { file, text, readRelative };
}

/** `origin/main` is the fetched branch, as in `Repository.commitOf`. */
function checkedRef(place: string, ref: string, folder: string): string {
  // git would take it for an option.
  if (ref === '' || ref.startsWith('-')) throw new InputError(place, null, 'must be git:REF or git:REF:PATH');
  const fetched = `refs/remotes/${ref}`;
  return runGit(folder, ['rev-parse', '--verify', '--quiet', fetched]).status === 0 ? fetched : ref;
}

function git(place: string, args: readonly string[], folder: string): Uint8Array {
  const { status, stdout, stderr } = runGit(folder, args);
  if (status !== 0) throw new InputError(place, null, stderr);
  return stdout;
}
