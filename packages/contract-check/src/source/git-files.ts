import { execFileSync } from 'node:child_process';
import { posix } from 'node:path';
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
  const file = `git:${ref}:${path}`;
  const text = decodeSourceText(file, git(file, ['show', revision(file, ref, path)], folder));
  return {
    file,
    text,
    readRelative(other) {
      const joined = posix.join(posix.dirname(path), other);
      return readGitFile(ref, path.startsWith('.') && !joined.startsWith('.') ? `./${joined}` : joined, folder);
    },
  };
}

/**
 * The files of a commit below a folder, by path relative to the folder.
 *
 * @throws {InputError} when git does not find the commit.
 */
export function gitFiles(ref: string, folder: string): PackageFiles {
  const listed = git(`git:${ref}`, ['ls-tree', '-r', '-z', '--name-only', revision(`git:${ref}`, ref)], folder);
  const paths = decodeSourceText(`git:${ref}`, listed).split('\0').filter(Boolean);
  return new Map(paths.map((path) => [path, () => readGitFile(ref, `./${path}`, folder)]));
}

function revision(file: string, ref: string, path?: string): string {
  // git would take it for an option.
  if (ref === '' || ref.startsWith('-')) throw new InputError(file, null, 'must be git:REF:PATH');
  return path === undefined ? ref : `${ref}:${path}`;
}

function git(file: string, args: readonly string[], folder: string): Uint8Array {
  try {
    return execFileSync('git', args, { cwd: folder, maxBuffer: 256 * 1024 * 1024, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new InputError(file, null, firstLineOf(error), { cause: error });
  }
}

function firstLineOf(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const message = stderr === '' && error instanceof Error ? error.message : stderr;
  return (message.split('\n', 1)[0] ?? '').replace(/^fatal: /, '');
}
