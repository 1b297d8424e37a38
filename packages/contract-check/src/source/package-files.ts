import { readdirSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import picomatch from 'picomatch';
import { list } from 'tar';
import { failAt } from '../input-error.ts';
import { decodeSourceText, readSourceText, type SourceText } from '../text-file.ts';

/** The files of a package, by path relative to the package, with `/` as the separator. */
export type PackageFiles = ReadonlyMap<string, () => SourceText>;

/** Whether folders of a name contain no contracts of a project. */
export function isForeign(name: string): boolean {
  return name === 'node_modules' || name === '.git';
}

/**
 * Null if the folder does not exist. Symbolic links are listed as files.
 *
 * @param skips returns whether to leave out the folders of a name
 * @param onLink receives the path of each symbolic link
 */
export function filesOfFolder(folder: string, skips = isForeign, onLink?: (path: string) => void): PackageFiles | null {
  const files = new Map<string, () => SourceText>();
  const pending = [folder];
  for (const current of pending) {
    let entries;
    try {
      entries = readdirSync(current, { withFileTypes: true });
    } catch (error) {
      if (current === folder) return null;
      failAt(current, 'cannot be read', { cause: error });
    }
    for (const entry of entries) {
      const path = join(current, entry.name);
      if (entry.isDirectory()) {
        if (!skips(entry.name)) pending.push(path);
      } else {
        if (entry.isSymbolicLink()) onLink?.(path);
        files.set(relative(folder, path).replaceAll(sep, '/'), () => readSourceText(path));
      }
    }
  }
  return files;
}

/** The files of a tarball of `npm pack`, which contains one top-level folder. Errors about its files show `label`. */
export function filesOfTarball(file: string, label = file): PackageFiles {
  const files = new Map<string, () => SourceText>();
  try {
    list({
      file,
      sync: true,
      strict: true,
      onReadEntry(entry) {
        const path = entry.path.split('/').slice(1).join('/');
        const chunks: Uint8Array[] = [];
        entry.on('data', (chunk) => chunks.push(chunk));
        files.set(path, () => {
          const name = `${label}:${path}`;
          return {
            file: name,
            text: decodeSourceText(name, Buffer.concat(chunks)),
            readRelative: (other) => readOne(files, label, posix.join(posix.dirname(path), other)),
          };
        });
      },
    });
  } catch (error) {
    failAt(label, 'is not a readable tarball', { cause: error });
  }
  return files;
}

/** Whether a path is a pattern. A name with the characters of a pattern can also be that of a file. */
export function isPattern(path: string): boolean {
  return picomatch.scan(path).isGlob;
}

/** Reads the files at a path, which can be a pattern. `label` names what contains them. */
export function readAmong(files: PackageFiles, label: string, path: string): SourceText[] {
  if (isPattern(path) && !files.has(path)) return readMatching(files, path, `${label}:${path}`);
  return [readOne(files, label, path)];
}

function readOne(files: PackageFiles, label: string, path: string): SourceText {
  const read = files.get(path);
  if (read === undefined) failAt(`${label}:${path}`, 'file not found');
  return read();
}

/** @throws {InputError} when a pattern matches no file. `place` is that of the pattern. */
export function readMatching(files: PackageFiles, pattern: string, place: string): SourceText[] {
  const found = matchingPaths(files, [pattern]).flatMap((path) => files.get(path)?.() ?? []);
  if (found.length === 0) failAt(place, 'matches no file');
  return found;
}

/** The paths that match a pattern, in order. */
export function matchingPaths(files: PackageFiles, patterns: readonly string[]): string[] {
  const matches = picomatch([...patterns]);
  return [...files.keys()].filter((path) => matches(path)).toSorted();
}

/** The files in a folder, by path relative to the folder. All files if it is empty. */
export function below(files: PackageFiles, folder: string): PackageFiles {
  if (folder === '') return files;
  return new Map(
    [...files]
      .filter(([path]) => path.startsWith(`${folder}/`))
      .map(([path, read]) => [path.slice(folder.length + 1), read] as const),
  );
}
