import { chmod, copyFile, lstat, mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

interface CopyOptions {
  /** Gets each path below the folder. False for a folder omits all of it. */
  keep: (path: string, isFolder: boolean) => boolean;
  /** False if no file may be executed. */
  hasPrograms: boolean;
}

/**
 * Copies a folder with the same modes whatever the umask was: 0755 for folders and programs, 0644 for other files. Folders of
 * which nothing is kept are not created. A file with several names becomes several files.
 */
export async function copyTree(from: string, to: string, { keep, hasPrograms }: CopyOptions): Promise<void> {
  async function copyFolder(folder: string): Promise<void> {
    const names = await readdir(join(from, folder));
    for (const name of names.toSorted()) {
      const path = join(folder, name);
      const source = join(from, path);
      const target = join(to, path);
      const stat = await lstat(source);
      if (!keep(path, stat.isDirectory())) continue;
      if (stat.isDirectory()) {
        await copyFolder(path);
        continue;
      }
      await makeFolder(dirname(target));
      if (stat.isSymbolicLink()) {
        await symlink(await readlink(source), target);
      } else {
        await copyFile(source, target);
        await chmod(target, hasPrograms && (stat.mode & 0o111) !== 0 ? 0o755 : 0o644);
      }
    }
  }
  await copyFolder('');
}

/** Writes a file that others can read, whatever the umask is. */
export async function writeReadable(path: string, content: string): Promise<void> {
  await writeFile(path, content);
  await chmod(path, 0o644);
}

/** Creates a folder and those above, which others can read. */
export async function makeFolder(path: string, mode = 0o755): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) await chmod(folder, 0o755);
  await chmod(path, mode);
}
