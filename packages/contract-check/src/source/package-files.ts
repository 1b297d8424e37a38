import { readdirSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { list } from 'tar';
import { InputError } from '../input-error.ts';
import { decodeSourceText, readSourceText, type SourceText } from '../text-file.ts';

/** The files of a package, by path relative to the package, with `/` as the separator. */
export type PackageFiles = ReadonlyMap<string, () => SourceText>;

const skippedFolders: ReadonlySet<string> = new Set(['node_modules', 'dist', '.git']);

/** Null if the folder does not exist. `skipped` are the names of folders to leave out. */
export function filesOfFolder(folder: string, skipped = skippedFolders): PackageFiles | null {
  const files = new Map<string, () => SourceText>();
  const pending = [folder];
  for (const current of pending) {
    let entries;
    try {
      entries = readdirSync(current, { withFileTypes: true });
    } catch (error) {
      if (current === folder) return null;
      throw new InputError(current, null, 'cannot be read', { cause: error });
    }
    for (const entry of entries) {
      const path = join(current, entry.name);
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name)) pending.push(path);
      } else {
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
            readRelative: (other) => readAmong(files, label, posix.join(posix.dirname(path), other)),
          };
        });
      },
    });
  } catch (error) {
    throw new InputError(label, null, 'is not a readable tarball', { cause: error });
  }
  return files;
}

/** @throws {InputError} when the file is not among the files. `label` names what contains them. */
export function readAmong(files: PackageFiles, label: string, path: string): SourceText {
  const read = files.get(path);
  if (read === undefined) throw new InputError(`${label}:${path}`, null, 'file not found');
  return read();
}

/** The files in a folder, by path relative to the folder. */
export function below(files: PackageFiles, folder: string): PackageFiles {
  return new Map(
    [...files]
      .filter(([path]) => path.startsWith(`${folder}/`))
      .map(([path, read]) => [path.slice(folder.length + 1), read] as const),
  );
}
