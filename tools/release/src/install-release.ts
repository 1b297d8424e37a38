import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeCurrent } from './current-release.ts';

/**
 * Installs a release in the folder of its name, and makes it the current one. Its files appear in one step, so a folder with this name is
 * complete, and stays as it is unless it `isReplaced`: processes may run it. `write` fills a new folder, and what an interrupted call left is
 * removed first.
 *
 * @returns whether the release was written
 */
export async function installRelease(
  folder: string,
  release: string,
  { isReplaced, write }: { isReplaced: boolean; write: (target: string) => Promise<void> },
): Promise<boolean> {
  const target = join(folder, release);
  const isWritten = isReplaced || !(await exists(target));
  if (isWritten) {
    const unfinished = `${target}.new`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true });
    await write(unfinished);
    await rm(target, { recursive: true, force: true });
    await rename(unfinished, target);
  }
  await makeCurrent(folder, release);
  return isWritten;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
